package python

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// maxPythonFindings bounds how many places one report names for this cause.
const maxPythonFindings = 3

// FindPython names the functions in which the interpreter works between operators.
func FindPython(c *facts.Facts, l finding.Ledger) []finding.Draft {
	keep := c.PythonSamples(l, false)
	if around := heavyCalls(c, l); around != nil {
		own := keep
		keep = func(k int, a *account.Attributed) bool { return own(k, a) || around(k, a) }
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, keep)
	var out []finding.Draft
	for len(out) < maxPythonFindings {
		sp, ok := facts.Hottest(chains, c.Drivers)
		if !ok || c.Share(sp.Unit) < finding.Floor || sp.Samples < facts.MinSamples {
			break
		}
		sp = facts.Everywhere(sp, chains, c.Drivers)
		if !freesMemory(c, &sp) {
			out = append(out, pythonFinding(c, sp))
		}
		taken := map[int]bool{}
		for _, m := range sp.Members {
			taken[m] = true
		}
		rest := chains[:0:0]
		for _, ch := range chains {
			if !taken[ch.Index] {
				rest = append(rest, ch)
			}
		}
		chains = rest
	}
	return out
}

// freesMemory says that a place's native code takes no longer than taking memory anew does: tensors that lose their names there give back
// what they held, in no operator.
func freesMemory(c *facts.Facts, sp *facts.Spot) bool {
	_, system, ok := c.PagesAgain()
	if !ok || c.PerStep(sp.Unit) > system {
		return false
	}
	native := 0
	for _, m := range sp.Members {
		if c.P.Samples.Flags[c.B.Samples[m].Index]&model.SampleRunsPython == 0 {
			native++
		}
	}
	return 2*native > len(sp.Members)
}

// maxCallGap is the interpreter's time per operator beyond which it is not the price of calling operators: Python code or a
// conversion such as torch.tensor(list) stands on the same line.
const maxCallGap = price.CallGap

// heavyCalls chooses interpreter time on the user's lines that call operators where it is far more than calling costs; nil
// where it is not, or where no trace tells the number of operators.
func heavyCalls(c *facts.Facts, l finding.Ledger) func(int, *account.Attributed) bool {
	o := c.B.Ops
	if o == nil || o.Rate <= 0 {
		return nil
	}
	around := c.PythonSamples(l, true)
	keep := func(k int, a *account.Attributed) bool {
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

func pythonFinding(c *facts.Facts, sp facts.Spot) finding.Draft {
	gc := c.Collections(sp)
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, Where: c.Where(sp), Share: c.Share(sp.Unit + gc),
		Confidence: c.Basis(sp.Samples)},
		finding.Parts{account.PartPython: sp.Unit})
	f.Title = wording.Say("python.title", wording.With("share", c.ShareOf(f.Share, sp.Members)))
	t := c.PerStep(sp.Unit + gc)
	f.Step = f.By(price.PythonCode).Sampled(sp.Samples).Scale(t)
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{
		wording.Say("python.busy", wording.Time("time", t), c.Said()),
		wording.Say("python.hottest", wording.Share("share", sp.Line/sp.Unit)),
	}
	if gc > 0 {
		f.Claim.Parts[account.PartGC] = gc
		f.Evidence = append(f.Evidence, c.CollectionsText(gc))
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix")}
	if needed(c, sp.Members) {
		f.Fix.Advice = []wording.Text{wording.Say("python.fix-loss")}
	}
	f.Caveat = []wording.Text{wording.Say("python.caveat")}
	ofLibrary(c, &f.Finding, sp.Members)
	ofEnvironment(c, &f, sp)
	c.Grows(&f.Finding, sp.Members)
	return f
}

// FindGIL names waiting for the interpreter's lock.
func FindGIL(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Part(account.PartGILWait)
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.GIL, Where: finding.Nowhere(), Share: c.Share(t)},
		finding.Parts{account.PartGILWait: t})
	holders, n := gilHolders(c)
	if sp, ok := facts.Hottest(holders, nil); ok {
		f.Where = c.Where(sp)
	}
	f.Title = wording.Say("gil.title", wording.Share("share", f.Share), c.Said())
	per := c.PerStep(t)
	f.Step = f.By(price.GIL).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Evidence = append(f.Evidence, wording.Say("gil.wait", wording.Time("t", per), c.Said()))
	sm := &c.P.Samples
	if early := c.SampledTime(0, c.AfterWarmup(), func(i int) bool { return sm.State[i] == model.StateGILWait }); c.B.PerStep && early > 0 {
		// The first steps run far more of the interpreter than later ones, with the same rival.
		more := max(early-per*float64(c.WarmSteps()), 0)
		f.Run = f.Run.Add(price.GIL.Times(more))
		f.Evidence = append(f.Evidence, wording.Say("gil.before", wording.Time("t", more)))
	}
	f.Confidence = c.Basis(n)
	f.Fix.Advice = []wording.Text{wording.Say("gil.fix")}
	f.Caveat = []wording.Text{wording.Say("gil.caveat")}
	return []finding.Draft{f}
}

// gilHolders are the samples of other threads that hold the lock during the accounted steps.
func gilHolders(c *facts.Facts) ([]facts.Chain, int) {
	sm := &c.P.Samples
	var others []account.Attributed
	for i := range sm.Len() {
		if int(sm.Thread[i]) != c.B.Thread && sm.Flags[i]&model.SampleHoldsGIL != 0 && c.InWindows(sm.Time[i]) {
			others = append(others, account.Attributed{Index: i, Weight: 1})
		}
	}
	return facts.ChainsOf(c.C, sm, others, func(int, *account.Attributed) bool { return true }), len(others)
}
