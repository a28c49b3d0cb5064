package cause

import (
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// tensorShare is the share of native time without the interpreter's lock from which a function counts as tensor code: its
// interpreter time is then the price of calling operators (cause launch), not Python work of its own. Native code of other libraries
// calls none; where a function spends more in it than in what looks like operators, those are the library's as well (an array's
// indexing has no frame of its own).
const tensorShare = price.TensorShare

// tensorFuncs finds the innermost user functions that mostly call operators.
func (c *Facts) tensorFuncs() map[funcKey]bool {
	ops, all, others := map[funcKey]float64{}, map[funcKey]float64{}, map[funcKey]float64{}
	for k := range c.B.Samples {
		a := &c.B.Samples[k]
		if a.Part != analyse.PartOps && a.Part != analyse.PartPython {
			continue
		}
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		if info.User < 0 {
			continue
		}
		key := keyOf(&c.C.Stacks.Frames[info.User])
		all[key] += a.Weight
		switch {
		case a.Part == analyse.PartOps:
			ops[key] += a.Weight
		case info.Acts&analyse.ActNumeric != 0:
			others[key] += a.Weight
		}
	}
	out := map[funcKey]bool{}
	for k, w := range ops {
		if w >= tensorShare*all[k] && w >= others[k] {
			out[k] = true
		}
	}
	return out
}

// tensorLine says that a line mostly calls operators, by the weight of its samples in operators and of all of them. It is asked of functions
// that drive the loop: there the function as a whole says nothing about one line.
func (c *Facts) tensorLine(ops, all map[model.FrameID]float64, fr model.FrameID) bool {
	return all[fr] > 0 && ops[fr] >= tensorShare*all[fr]
}

// pythonSamples are the samples in which the interpreter (or native code that holds its lock, such as NumPy's small calls)
// works for the user's own code; forOps turns the choice round: interpreter time around operators.
func (c *Facts) pythonSamples(l Ledger, forOps bool) func(int, *analyse.Attributed) bool {
	tensor := c.tensorFuncs()
	ops, all := map[model.FrameID]float64{}, map[model.FrameID]float64{}
	frameOf := func(a *analyse.Attributed) model.FrameID { return c.C.Info(c.P.Samples.Stack[a.Index]).User }
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; a.Part == analyse.PartOps || a.Part == analyse.PartPython {
			fr := frameOf(a)
			all[fr] += a.Weight
			if a.Part == analyse.PartOps {
				ops[fr] += a.Weight
			}
		}
	}
	return func(k int, a *analyse.Attributed) bool {
		if a.Part != analyse.PartPython || l.Taken(k) {
			return false
		}
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		fr := info.User
		if fr < 0 {
			return forOps == (info.Acts&analyse.ActTorch != 0)
		}
		if info.Acts&analyse.ActNumeric != 0 {
			return !forOps
		}
		around := info.Acts&(analyse.ActTorch|analyse.ActBackward|analyse.ActOptimizer) != 0
		if around = around || c.calling[fr]; !around {
			if c.drivers[keyOf(&c.C.Stacks.Frames[fr])] {
				around = c.tensorLine(ops, all, fr)
			} else {
				around = tensor[keyOf(&c.C.Stacks.Frames[fr])]
			}
		}
		return around == forOps
	}
}

// minSamples is how many samples a place needs before it is named: fewer are chance.
const minSamples = 8

// maxPythonFindings bounds how many places one report names for this cause.
const maxPythonFindings = 3

// findPython names the functions in which the interpreter works between operators.
func findPython(c *Facts, l Ledger) []Draft {
	keep := c.pythonSamples(l, false)
	if around := c.heavyCalls(l); around != nil {
		own := keep
		keep = func(k int, a *analyse.Attributed) bool { return own(k, a) || around(k, a) }
	}
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, keep)
	var out []Draft
	for len(out) < maxPythonFindings {
		sp, ok := hottest(chains, c.drivers)
		if !ok || c.share(sp.unit) < Floor || sp.samples < minSamples {
			break
		}
		sp = everywhere(sp, chains, c.drivers)
		out = append(out, c.pythonFinding(sp))
		taken := map[int]bool{}
		for _, m := range sp.members {
			taken[m] = true
		}
		rest := chains[:0:0]
		for _, ch := range chains {
			if !taken[ch.index] {
				rest = append(rest, ch)
			}
		}
		chains = rest
	}
	return out
}

// maxCallGap is the interpreter's time per operator beyond which it is not the price of calling operators: Python code or a
// conversion such as torch.tensor(list) stands on the same line.
const maxCallGap = price.CallGap

// heavyCalls chooses interpreter time on the user's lines that call operators where it is far more than calling costs; nil
// where it is not, or where no trace tells the number of operators.
func (c *Facts) heavyCalls(l Ledger) func(int, *analyse.Attributed) bool {
	o := c.B.Ops
	if o == nil || o.Rate <= 0 {
		return nil
	}
	around := c.pythonSamples(l, true)
	keep := func(k int, a *analyse.Attributed) bool {
		return around(k, a) && c.C.Info(c.P.Samples.Stack[a.Index]).UserLeaf
	}
	t := 0.0
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; keep(k, a) {
			t += a.Weight
		}
	}
	if t < max(maxCallGap*o.Rate, price.CallGapLeast)*c.B.Total {
		return nil
	}
	return keep
}

// collections is the garbage collector's time while a function is on the stack: the objects that the function makes cause it.
// It counts as the function's as long as it is the smaller part; else the collector itself is what is wrong.
func (c *Facts) collections(sp spot) float64 {
	if c.drivers[keyOf(&sp.frame)] {
		return 0
	}
	t := 0.0
	for _, ch := range chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartGC }) {
		if slices.ContainsFunc(ch.frames, func(f model.Frame) bool { return keyOf(&f) == keyOf(&sp.frame) }) {
			t += ch.weight
		}
	}
	if t > sp.unit {
		return 0
	}
	return t
}

// collectionsText says how long collections take, ns over the windows, that belong to a finding.
func (c *Facts) collectionsText(gc float64) wording.Text {
	return wording.Say("python.collections", wording.Time("time", c.perStep(gc)))
}

func (c *Facts) pythonFinding(sp spot) Draft {
	gc := c.collections(sp)
	f := draft(Finding{Cause: Python, Where: c.where(sp), Share: c.share(sp.unit + gc), Confidence: c.basis(sp.samples)},
		Parts{analyse.PartPython: sp.unit})
	f.Title = wording.Say("python.title", wording.With("share", c.shareOf(f.Share, sp.members)))
	t := c.perStep(sp.unit + gc)
	f.Step = f.by(price.PythonCode).Sampled(sp.samples).Scale(t)
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{
		wording.Say("python.busy", wording.Time("time", t), c.unit()),
		wording.Say("python.hottest", wording.Share("share", sp.line/sp.unit)),
	}
	if gc > 0 {
		f.Claim.Parts[analyse.PartGC] = gc
		f.Evidence = append(f.Evidence, c.collectionsText(gc))
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix")}
	f.Caveat = []wording.Text{wording.Say("python.caveat")}
	c.ofLibrary(&f.Finding, sp.members)
	c.grows(&f.Finding, sp.members)
	return f
}

// findGIL names waiting for the interpreter's lock.
func findGIL(c *Facts, _ Ledger) []Draft {
	t := c.B.Part(analyse.PartGILWait)
	if c.share(t) < Floor {
		return nil
	}
	f := draft(Finding{Cause: GIL, Where: nowhere(), Share: c.share(t)}, Parts{analyse.PartGILWait: t})
	holders, n := c.gilHolders()
	if sp, ok := hottest(holders, nil); ok {
		f.Where = c.where(sp)
	}
	f.Title = wording.Say("gil.title", wording.Share("share", f.Share), c.unit())
	per := c.perStep(t)
	f.Step = f.by(price.GIL).Times(per)
	f.Run = c.overRun(f.Step)
	f.Evidence = append(f.Evidence, wording.Say("gil.wait", wording.Time("t", per), c.unit()))
	sm := &c.P.Samples
	if early := c.sampledTime(0, c.afterWarmup(), func(i int) bool { return sm.State[i] == model.StateGILWait }); c.B.PerStep && early > 0 {
		// The first steps run far more of the interpreter than later ones, with the same rival.
		more := max(early-per*float64(c.warmSteps()), 0)
		f.Run = f.Run.Add(price.GIL.Times(more))
		f.Evidence = append(f.Evidence, wording.Say("gil.before", wording.Time("t", more)))
	}
	f.Confidence = c.basis(n)
	f.Fix.Advice = []wording.Text{wording.Say("gil.fix")}
	f.Caveat = []wording.Text{wording.Say("gil.caveat")}
	return []Draft{f}
}

// gilHolders are the samples of other threads that hold the lock during the accounted steps.
func (c *Facts) gilHolders() ([]chain, int) {
	sm := &c.P.Samples
	var others []analyse.Attributed
	for i := range sm.Len() {
		if int(sm.Thread[i]) != c.B.Thread && sm.Flags[i]&model.SampleHoldsGIL != 0 && c.inWindows(sm.Time[i]) {
			others = append(others, analyse.Attributed{Index: i, Weight: 1})
		}
	}
	return chainsOf(c.C, sm, others, func(int, *analyse.Attributed) bool { return true }), len(others)
}
