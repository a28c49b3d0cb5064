package python

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindBetween names what the interpreter works at between the steps, after the first one: data that is read anew for each training,
// metrics at the end of an epoch. Steps do not show it, the run pays for it.
func FindBetween(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep || c.Wall <= 0 {
		return nil
	}
	chains := betweenSteps(c)
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || sp.Samples < facts.MinSamples || sp.Unit < finding.Floor*c.Wall {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, OfRun: true, Where: c.Where(sp), Share: sp.Unit / c.Wall,
		Confidence: c.Basis(sp.Samples)}, nil)
	f.Confidence.Why = []wording.Text{wording.Say("python.basis-between", wording.Count("samples", sp.Samples))}
	f.Title = wording.Say("python.title-between", wording.Share("share", f.Share))
	f.Run = f.By(price.PythonBetween).Times(sp.Unit)
	f.Evidence = []wording.Text{
		wording.Say("python.between", wording.Time("time", sp.Unit)),
		wording.Say("python.hottest", wording.Share("share", sp.Line/sp.Unit)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-between")}
	f.Caveat = []wording.Text{wording.Say("python.caveat-between")}
	return []finding.Draft{f}
}

// betweenSteps are the samples of the driving thread between the first and the last step in which the interpreter works outside of
// all steps, for code that calls no operators; each stands for the time since the one before.
func betweenSteps(c *facts.Facts) []facts.Chain {
	const longest = 100_000_000 // ns: beyond it samples were lost
	busy := stepsAndPauses(c)
	if len(busy) == 0 {
		return nil
	}
	sm := &c.P.Samples
	var att []account.Attributed
	last := model.Time(0)
	ops, all := map[facts.FuncKey]float64{}, map[facts.FuncKey]float64{}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		t := sm.Time[i]
		if int(sm.Thread[i]) != c.B.Thread || t < busy[0].Start || t >= busy[len(busy)-1].End {
			continue
		}
		since := float64(min(t-last, longest))
		first := last == 0
		last = t
		if first || facts.Inside(busy, t) {
			continue
		}
		a := account.Attributed{Index: i, Weight: since, Part: account.PartOfSample(c.P, c.C, i)}
		if user := c.C.Info(sm.Stack[i]).User; user >= 0 && (a.Part == account.PartPython || a.Part == account.PartOps) {
			key := facts.KeyOf(&c.C.Stacks.Frames[user])
			all[key] += since
			if a.Part == account.PartOps {
				ops[key] += since
			}
			att = append(att, a)
		}
	}
	return facts.ChainsOf(c.C, sm, att, func(_ int, a *account.Attributed) bool {
		key := facts.KeyOf(&c.C.Stacks.Frames[c.C.Info(sm.Stack[a.Index]).User])
		return a.Part == account.PartPython && ops[key] < price.TensorShare*all[key]
	})
}

// stepsAndPauses are the stretches that are steps, compilation, imports or the profiler's own pauses, sorted and disjoint.
func stepsAndPauses(c *facts.Facts) []times.Interval {
	var list []times.Interval
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.End > st.Start {
			list = append(list, times.Interval{Start: st.Start, End: st.End})
		}
	}
	if len(list) == 0 {
		return nil
	}
	first, last := list[0].Start, list[0].End
	for _, iv := range list {
		first, last = min(first, iv.Start), max(last, iv.End)
	}
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if k := sp.Kind; (k == model.SpanCompile || k == model.SpanImport || k == model.SpanProfiler) && sp.End > sp.Start &&
			sp.Start >= first && sp.End <= last {
			list = append(list, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return facts.Merged(list)
}
