package launch

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// waitForEnvironment says that most of what chains call runs in the loops, which also step an environment: each turn works on what the
// environment answered to the one before, so that no turn can be computed together with the next.
func (l loops) waitForEnvironment(c *facts.Facts, chains []facts.Chain) bool {
	waits, _ := l.split(c, chains)
	return len(waits) > 0 && 2*facts.Sum(waits) > facts.Sum(chains)
}

// split splits chains into those that run in the loops and the others.
func (l loops) split(c *facts.Facts, chains []facts.Chain) (inside, others []facts.Chain) {
	for i := range chains {
		if l.hold(c, &chains[i]) {
			inside = append(inside, chains[i])
		} else {
			others = append(others, chains[i])
		}
	}
	return inside, others
}

// innerLoop splits chains into those of the loop that holds most of them, with its hottest place, and the others: a loop of a function that
// drives the steps, but one within a step, that neither goes backward nor updates parameters, in a program that does, nor steps an
// environment. ok is false where there is none, where the loop has too little of the chains' time to be told, and where another function
// that it calls has most of that.
func innerLoop(c *facts.Facts, environments loops, chains []facts.Chain) (sp facts.Spot, main, rest []facts.Chain, ok bool) {
	learning := learningChains(c)
	if len(learning) == 0 {
		return sp, nil, nil, false
	}
	times := map[funcLoop]float64{}
	for i := range chains {
		if l, ok := loopOfDriver(c, &chains[i]); ok {
			times[l] += chains[i].Weight
		}
	}
	var most funcLoop
	for l, time := range times {
		held := loops{l.key: {l.loop}}
		learns := slices.ContainsFunc(learning, func(ch facts.Chain) bool { return held.hold(c, &ch) })
		acts := slices.Contains(environments[l.key], l.loop)
		if !learns && !acts && (time > times[most] || time == times[most] && l.loop > most.loop) {
			most = l
		}
	}
	if most.loop == 0 {
		return sp, nil, nil, false
	}
	main, rest = loops{most.key: {most.loop}}.split(c, chains)
	sp, ok = facts.Hottest(main, c.Drivers)
	return sp, main, rest, ok && c.Drivers[facts.KeyOf(&sp.Frame)] && facts.Sum(main) > price.LaunchLoop*facts.Sum(chains)
}

// funcLoop is one loop of a function.
type funcLoop struct {
	key  facts.FuncKey
	loop int
}

// loopOfDriver is the innermost loop that holds a chain in the innermost function that drives the steps and loops.
func loopOfDriver(c *facts.Facts, ch *facts.Chain) (funcLoop, bool) {
	for _, f := range slices.Backward(ch.Frames) {
		key := facts.KeyOf(&f)
		if !c.Drivers[key] {
			continue
		}
		if loop := code.LoopAround(c.S.Sources[c.Text(f.File)], int(f.Line)); loop > 0 {
			return funcLoop{key, loop}, true
		}
	}
	return funcLoop{}, false
}

// learningChains are the samples in backward passes and in optimizers.
func learningChains(c *facts.Facts) []facts.Chain {
	return facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return c.C.Info(c.P.Samples.Stack[a.Index]).Acts&(code.ActOptimizer|code.ActBackward) != 0
	})
}

// learnsAt says that a library goes backward or updates parameters in a place's line, too: a trainer does all of the step there, and what
// it calls says nothing about a loop of the user's.
func learnsAt(c *facts.Facts, sp *facts.Spot) bool {
	n := 0
	for _, ch := range learningChains(c) {
		if len(ch.Frames) > 0 {
			f := &ch.Frames[len(ch.Frames)-1]
			n += finding.Btoi(facts.KeyOf(f) == facts.KeyOf(&sp.Frame) && f.Line == sp.Frame.Line)
		}
	}
	return n >= facts.MinSamples
}

// inLoopOfItsOwn says that a place lies in a loop of its function, which does not drive the steps: that loop makes its operators many.
func inLoopOfItsOwn(c *facts.Facts, sp facts.Spot) bool {
	return !c.Drivers[facts.KeyOf(&sp.Frame)] && code.LoopAround(c.S.Sources[c.Text(sp.Frame.File)], int(sp.Frame.Line)) > 0
}

// calledAsModule says that a place's function is a module's: most of its samples came to it through the call of a module.
func calledAsModule(c *facts.Facts, sp *facts.Spot) bool {
	key, calls := facts.KeyOf(&sp.Frame), 0
	for _, m := range sp.Members {
		found := false
		c.C.Walk(c.P.Samples.Stack[c.B.Samples[m].Index], func(fr model.FrameID) bool {
			f := &c.C.Stacks.Frames[fr]
			if found {
				calls += finding.Btoi(strings.HasSuffix(c.Text(f.File), model.ModuleFile))
				return false
			}
			found = facts.KeyOf(f) == key
			return true
		})
	}
	return 2*calls > len(sp.Members)
}

// loops are loops of the user's functions, by their lines.
type loops map[facts.FuncKey][]int

// hold says that a chain runs in one of the loops.
func (l loops) hold(c *facts.Facts, ch *facts.Chain) bool {
	return slices.ContainsFunc(ch.Frames, func(f model.Frame) bool {
		source := c.S.Sources[c.Text(f.File)]
		return slices.ContainsFunc(l[facts.KeyOf(&f)], func(loop int) bool { return code.InLoop(source, loop, int(f.Line)) })
	})
}

// layersRepeat says that a step calls its layers again and again: it has several times as many products with weights as the program's
// optimizers have parameters, of which a layer has one or two.
func layersRepeat(c *facts.Facts) bool {
	parameters, _, ok := c.Updated()
	products := 0.0
	for _, op := range c.B.Ops.Names {
		switch c.Text(op.Name) {
		case "aten::addmm", "aten::convolution":
			products += op.Count
		}
	}
	return ok && products > price.LayersRepeat*parameters
}

// environmentLoops are the innermost loops in which a library steps an environment and operators are called, too: a loop over several
// environments that are stepped in turn calls none.
func environmentLoops(c *facts.Facts) loops {
	steps := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return c.StepsEnvironment(c.P.Samples.Stack[a.Index])
	})
	if len(steps) < facts.MinSamples {
		return nil
	}
	calls := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActTorch != 0
	})
	found, others := loops{}, loops{}
	for _, ch := range steps {
		for _, f := range slices.Backward(ch.Frames) {
			loop, key := code.LoopAround(c.S.Sources[c.Text(f.File)], int(f.Line)), facts.KeyOf(&f)
			if loop == 0 || slices.Contains(others[key], loop) {
				continue
			}
			if slices.Contains(found[key], loop) {
				break
			}
			one := loops{key: {loop}}
			if slices.ContainsFunc(calls, func(ch facts.Chain) bool { return one.hold(c, &ch) }) {
				found[key] = append(found[key], loop)
				break
			}
			others[key] = append(others[key], loop)
		}
	}
	return found
}
