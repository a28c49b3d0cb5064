package launch

import (
	"maps"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
)

// opSizes counts a line's samples of traced time that lie in small operators and in others.
type opSizes struct{ small, large float64 }

// sizesByLine tells the user's lines by what operators they call: what the driving thread's samples in traced steps lie in. The time
// that tracing adds to small operators does not count.
func sizesByLine(c *facts.Facts) map[model.FrameID]opSizes {
	out := map[model.FrameID]opSizes{}
	sm, o := &c.P.Samples, c.B.Ops
	if len(o.Tops) == 0 {
		return out
	}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) != c.B.Thread {
			continue
		}
		small, inside := o.SmallAt(sm.Time[i])
		fr := c.C.Info(sm.Stack[i]).User
		if !inside || fr < 0 {
			continue
		}
		sizes := out[fr]
		if small {
			sizes.small += o.SmallLeft
		} else {
			sizes.large++
		}
		out[fr] = sizes
	}
	return out
}

// lineTime is the driving thread's time on one line, ns.
type lineTime struct{ ops, python float64 }

// priorSamples is the number of samples that what is expected of a line weighs as much as: a few decide, one or two do not.
const priorSamples = 4

// share is the share of small operators in the line's operators' time where so much is expected of it, 0..1.
func (s opSizes) share(expected float64) float64 {
	return (s.small + priorSamples*expected) / (s.small + s.large + priorSamples)
}

// leaveSmall leaves of the operators' time what small ones take: on each line the share that its samples in traced steps tell, the nearer
// to what is expected of the line the fewer they are.
func leaveSmall(c *facts.Facts, chains []facts.Chain, sizes map[model.FrameID]opSizes,
	expect func(map[model.FrameID]*lineTime) map[model.FrameID]float64) {
	lines := map[model.FrameID]*lineTime{}
	frame := func(ch *facts.Chain) model.FrameID {
		return c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.Index].Index]).User
	}
	for i := range chains {
		l := lines[frame(&chains[i])]
		if l == nil {
			l = &lineTime{}
			lines[frame(&chains[i])] = l
		}
		if c.B.Samples[chains[i].Index].Part == account.PartOps {
			l.ops += chains[i].Weight
		} else {
			l.python += chains[i].Weight
		}
	}
	expected := expect(lines)
	for i := range chains {
		if c.B.Samples[chains[i].Index].Part != account.PartOps {
			continue
		}
		fr := frame(&chains[i])
		chains[i].Weight *= sizes[fr].share(expected[fr])
	}
}

// evenly expects the same share of small operators on every line.
func evenly(c *facts.Facts, share float64) func(map[model.FrameID]*lineTime) map[model.FrameID]float64 {
	return func(lines map[model.FrameID]*lineTime) map[model.FrameID]float64 {
		out := map[model.FrameID]float64{}
		for fr := range lines {
			out[fr] = share
		}
		return out
	}
}

// byPython expects a share of small operators over all lines, on those that call them: around many small operators the interpreter takes
// about as long as they do, around a large one it takes nothing. Each line has its part in proportion to the interpreter's time on it,
// and at most what its operators took.
func byPython(c *facts.Facts, share float64) func(map[model.FrameID]*lineTime) map[model.FrameID]float64 {
	return func(lines map[model.FrameID]*lineTime) map[model.FrameID]float64 {
		const most, rounds = 1e3, 40
		all, low, high := 0.0, 0.0, most
		order := slices.Sorted(maps.Keys(lines)) // sums of floats depend on their order
		for _, fr := range order {
			all += lines[fr].ops
		}
		out := map[model.FrameID]float64{}
		for range rounds { // the factor between the interpreter's time and the operators', by halving
			factor, got := (low+high)/2, 0.0
			for _, fr := range order {
				l := lines[fr]
				part := min(l.ops, factor*(l.python+price.LaunchLeast*l.ops))
				got += part
				out[fr] = part / max(l.ops, 1)
			}
			if got < share*all {
				low = factor
			} else {
				high = factor
			}
		}
		return out
	}
}

// smallShare is the share of small operators in operators' time, 0..1; that of all operators where the trace does not tell these apart.
func (o launchOps) smallShare(time, small float64) float64 {
	if time <= 0 {
		time, small = o.Time, o.SmallTime
	}
	if time <= 0 {
		return 1
	}
	return min(max(small/time, 0), 1)
}
