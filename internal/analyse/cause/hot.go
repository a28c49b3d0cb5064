package cause

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
)

// funcKey is one function of the program.
type funcKey struct {
	file, name model.Str
	first      int32
}

func keyOf(f *model.Frame) funcKey { return funcKey{f.File, f.Function, f.First} }

// chain is one sample's user frames, outermost first, with the time that it stands for.
type chain struct {
	frames []model.Frame
	weight float64
	index  int // of the attributed sample
}

// spot is where time is spent: a line of a function, and the time of the whole unit (the function, or in the function that
// drives the loop only the line).
type spot struct {
	frame   model.Frame
	unit    float64 // ns of the unit
	line    float64 // ns of the line
	samples int     // of the unit
	members []int   // indices of the attributed samples that the unit holds
}

// workerFile is what a DataLoader's worker runs.
const workerFile = "/torch/utils/data/_utils/worker.py"

// chainsOf makes the user frames of chosen samples.
func chainsOf(cls *analyse.FrameClasses, sm *model.Samples, attributed []analyse.Attributed, keep func(k int, a *analyse.Attributed) bool) []chain {
	return chainsInside(workerFile, cls, sm, attributed, keep)
}

// chainsInside makes the user frames of chosen samples that the innermost frame of a file, given by the end of its name, leads to; all
// of them where it is not on the stack.
func chainsInside(file string, cls *analyse.FrameClasses, sm *model.Samples, attributed []analyse.Attributed, keep func(k int, a *analyse.Attributed) bool) []chain {
	var out []chain
	cache := map[model.StackID][]model.Frame{}
	for k := range attributed {
		a := &attributed[k]
		if !keep(k, a) {
			continue
		}
		id := sm.Stack[a.Index]
		frames, ok := cache[id]
		if !ok {
			cls.Walk(id, func(fr model.FrameID) bool {
				f := cls.Stacks.Frames[fr]
				if strings.HasSuffix(cls.Strings.Text(f.File), file) {
					return false // of a worker, what is around it ran in the process that forked it
				}
				if n := len(frames); n > 0 && anonymous(cls.Strings.Text(frames[n-1].Function)) && cls.File(f.File) == analyse.FileUser {
					frames = frames[:n-1] // the line that holds the lambda or comprehension is the place
				}
				if cls.File(f.File) == analyse.FileUser {
					frames = append(frames, f)
				}
				return len(frames) < 256
			})
			slices.Reverse(frames)
			cache[id] = frames
		}
		out = append(out, chain{frames, a.Weight, k})
	}
	return out
}

// anonymous says that a function is part of a line of the function around it: a lambda, a comprehension, a generator expression.
func anonymous(name string) bool {
	return strings.HasSuffix(name, ">") && !strings.HasSuffix(name, "<module>")
}

// driverShare is the share of all samples from which a function counts as one that drives the loop: its other lines are other
// parts of the step, so that only a line of it, never the whole function, is a finding's unit.
const driverShare = price.DriverShare

// findDrivers finds the functions that are on the stack for nearly all of the accounted time.
func (c *Facts) findDrivers() map[funcKey]bool {
	all := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(int, *analyse.Attributed) bool { return true })
	out := driversOf(all)
	if c.B.PerStep {
		return out
	}
	// Without steps a function that does the work itself is the place, not the loop around it.
	own, total := map[funcKey]float64{}, sum(all)
	for _, ch := range all {
		if n := len(ch.frames); n > 0 {
			own[keyOf(&ch.frames[n-1])] += ch.weight
		}
	}
	for k := range out {
		if own[k] >= 0.5*total && c.text(k.name) != "<module>" {
			delete(out, k)
		}
	}
	return out
}

func driversOf(all []chain) map[funcKey]bool {
	total := 0.0
	inside := map[funcKey]float64{}
	for _, ch := range all {
		total += ch.weight
		seen := map[funcKey]bool{}
		for i := range ch.frames {
			if k := keyOf(&ch.frames[i]); !seen[k] {
				seen[k] = true
				inside[k] += ch.weight
			}
		}
	}
	out := map[funcKey]bool{}
	for k, w := range inside {
		if w >= driverShare*total {
			out[k] = true
		}
	}
	return out
}

// hottest finds the place that holds most of the chains' time: from the outermost frame down, through functions that drive
// the loop always, through others while one callee has at least half of their time. ok is false where no chain has a user frame.
func hottest(chains []chain, drivers map[funcKey]bool) (spot, bool) {
	depth := 0
	current := slices.DeleteFunc(slices.Clone(chains), func(ch chain) bool { return len(ch.frames) == 0 })
	if len(current) == 0 {
		return spot{}, false
	}
	current = heaviestGroup(current, func(ch chain) any { return keyOf(&ch.frames[0]) })
	for {
		key := keyOf(&current[0].frames[depth])
		type callee struct {
			key  funcKey
			line int32
		}
		next := heaviestGroup(current, func(ch chain) any {
			if len(ch.frames) > depth+1 {
				return callee{key: keyOf(&ch.frames[depth+1])}
			}
			return callee{line: ch.frames[depth].Line}
		})
		leaf := len(next[0].frames) <= depth+1
		switch {
		case drivers[key] && leaf:
			return spotOf(next, depth, sum(next)), true
		case drivers[key] || !leaf && sum(next) >= 0.5*sum(current):
			current, depth = next, depth+1
		default:
			return spotOf(current, depth, sum(current)), true
		}
	}
}

// everywhere widens a place that is a whole function to all chains that pass through it, whoever calls it: what ends its work ends it
// for each of its callers. A line of a function that drives the loop stays what it is.
func everywhere(sp spot, chains []chain, drivers map[funcKey]bool) spot {
	key := keyOf(&sp.frame)
	if drivers[key] {
		return sp
	}
	lines := map[int32]float64{}
	out := spot{frame: sp.frame}
	for _, ch := range chains {
		i := slices.IndexFunc(ch.frames, func(f model.Frame) bool { return keyOf(&f) == key })
		if i < 0 {
			continue
		}
		fr := ch.frames[i]
		out.unit += ch.weight
		out.samples++
		out.members = append(out.members, ch.index)
		if lines[fr.Line] += ch.weight; lines[fr.Line] > out.line {
			out.line, out.frame = lines[fr.Line], fr
		}
	}
	return out
}

// spotOf makes the place of a group: the line of the frame at depth that has most time.
func spotOf(group []chain, depth int, unit float64) spot {
	line := heaviestGroup(group, func(ch chain) any { return ch.frames[depth].Line })
	s := spot{frame: line[0].frames[depth], unit: unit, line: sum(line), samples: len(group)}
	for _, ch := range group {
		s.members = append(s.members, ch.index)
	}
	return s
}

// heaviestGroup splits chains by key and gives the group with most time; the first seen wins a tie.
func heaviestGroup(chains []chain, key func(chain) any) []chain {
	groups := map[any][]chain{}
	weight := map[any]float64{}
	var best any
	for _, ch := range chains {
		k := key(ch)
		groups[k] = append(groups[k], ch)
		weight[k] += ch.weight
	}
	for _, ch := range chains {
		if k := key(ch); best == nil || weight[k] > weight[best] {
			best = k
		}
	}
	return groups[best]
}

func sum(chains []chain) float64 {
	t := 0.0
	for _, ch := range chains {
		t += ch.weight
	}
	return t
}

// where makes the place of a spot.
func (c *Facts) where(sp spot) Where {
	w := nowhere()
	w.File, w.Line, w.Function = c.text(sp.frame.File), int(sp.frame.Line), c.text(sp.frame.Function)
	w.Source = c.source(w.File, w.Line)
	return w
}

// lineTimes sums chains by their innermost user line, most first.
func lineTimes(chains []chain) []spot {
	type key struct {
		f    funcKey
		line int32
	}
	index := map[key]int{}
	var out []spot
	for _, ch := range chains {
		if len(ch.frames) == 0 {
			continue
		}
		f := ch.frames[len(ch.frames)-1]
		k := key{keyOf(&f), f.Line}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, spot{frame: f})
		}
		out[i].unit += ch.weight
		out[i].line += ch.weight
		out[i].samples++
		out[i].members = append(out[i].members, ch.index)
	}
	slices.SortStableFunc(out, func(a, b spot) int { return cmp.Compare(b.line, a.line) })
	return out
}
