package python

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
	"cmp"
	"slices"
)

// FindBetween names what the interpreter works at between the steps, after the first one: data that is read anew for each training,
// metrics at the end of an epoch; or after the last one, where that is more. Steps do not show it, the run pays for it.
func FindBetween(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep || c.Wall <= 0 {
		return nil
	}
	w := outsideSteps(c)
	sp, ok := facts.Hottest(w.python, c.Drivers)
	at, last := facts.Hottest(w.lastPython, c.Drivers)
	if last = last && at.Unit >= price.BetweenShare*c.Wall && (!ok || at.Unit > sp.Unit); last {
		sp, ok = at, true
	}
	if !ok || sp.Samples < facts.MinSamples || sp.Unit < finding.Floor*c.Wall {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, OfRun: true, Where: c.Where(sp), Share: sp.Unit / c.Wall,
		Confidence: c.Basis(sp.Samples)}, nil)
	f.Confidence.Why = []wording.Text{wording.Say("python.basis-between", wording.Count("samples", sp.Samples))}
	if last {
		f.Title = wording.Say("python.title-after", wording.Share("share", f.Share))
	} else {
		f.Title = wording.Say("python.title-between", wording.Share("share", f.Share))
		f.Caveat = []wording.Text{wording.Say("python.caveat-between")}
	}
	f.Run = f.By(price.PythonBetween).Times(sp.Unit)
	f.Evidence = []wording.Text{
		wording.Say("python.between", wording.Time("time", sp.Unit)),
		wording.Say("python.hottest", wording.Share("share", sp.Line/sp.Unit)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-between")}
	return []finding.Draft{f}
}

// Between is the sub of what calls small operators outside of the steps.
const Between = "between"

// FindCallsBetween names a function that calls one small operator after another between the steps, and after the last one: an evaluation
// of one sample at a time. Traces hold steps alone, so that samples are all that tells it.
func FindCallsBetween(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if !c.B.PerStep || c.Wall <= 0 || l.Found(finding.Again) { // which may be this
		return nil
	}
	w := outsideSteps(c)
	for _, place := range w.hottest(c) {
		if f := w.callsAt(c, place); f != nil {
			return []finding.Draft{*f}
		}
	}
	return nil
}

// callsAt is the finding on a place that calls small operators outside of the steps, nil where it does not.
func (w *outside) callsAt(c *facts.Facts, sp outsideSpot) *finding.Draft {
	python, asks := 0.0, false
	for _, m := range sp.Members {
		a := &w.of[m]
		asks = asks || c.StepsEnvironment(c.P.Samples.Stack[a.Index])
		if a.Part == account.PartPython {
			python += a.Weight
		}
	}
	if asks || python < price.BetweenPython*sp.Unit {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: Between, OfRun: true, Where: c.Where(sp.Spot),
		Share: sp.Unit / c.Wall, Confidence: c.Basis(sp.Samples)}, nil)
	f.Confidence.Why = []wording.Text{wording.Say("python.basis-between", wording.Count("samples", sp.Samples))}
	if f.Title = wording.Say("launch.title-between", wording.Share("share", f.Share)); sp.last {
		f.Title = wording.Say("launch.title-after", wording.Share("share", f.Share))
	}
	row, advice := price.CallsBetween, "launch.fix-between"
	switch source := c.S.Sources[c.Text(sp.Frame.File)]; {
	case pysource.CountsPairs(f.Where.Source):
		row, advice = price.CallsBatched, "launch.fix-counts"
	case source != nil && new(pysource.Reader).TurnsApart(source.Lines, sp.Frame.Line):
		row = price.CallsApart
	}
	f.Run = f.By(row).Times(sp.Unit)
	f.Run.High = min(f.Run.High, sp.Unit)
	f.Evidence = []wording.Text{
		wording.Say("launch.between", wording.Time("time", sp.Unit), wording.Time("python", python)),
		wording.Say("python.hottest", wording.Share("share", sp.Line/sp.Unit)),
	}
	f.Fix.Advice = []wording.Text{wording.Say(advice)}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-between")}
	return &f
}

// OnTensorsBetween is the function that the loop calls outside of its steps and that computes most, and its time in ns of the run; ok is
// false where it is not worth a word.
func OnTensorsBetween(c *facts.Facts) (at finding.Where, time float64, ok bool) {
	if !c.B.PerStep || c.Wall <= 0 {
		return finding.Nowhere(), 0, false
	}
	w := outsideSteps(c)
	for _, list := range [][]facts.Chain{w.tensors, w.after, w.last} {
		for i := range list {
			called := func(f model.Frame) bool { return !c.Drivers[facts.KeyOf(&f)] }
			if n := slices.IndexFunc(list[i].Frames, called); n >= 0 {
				list[i].Frames = list[i].Frames[:n+1]
			}
		}
	}
	places := w.hottest(c)
	if len(places) == 0 {
		return finding.Nowhere(), 0, false
	}
	return c.Where(places[0].Spot), places[0].Unit, true
}

// loops is the number of steps from which the last one is the end of a loop.
const loops = 3

// outside are the samples of the driving thread after the first step, outside of all steps, in which it works; each stands for the time
// since the one before.
type outside struct {
	of      []account.Attributed
	python  []facts.Chain // between the first and the last step, in functions that call next to no operators
	tensors []facts.Chain // in the others, and in those that read and write files
	after   []facts.Chain // of both, after the last step
	// lastPython and last are of these: in functions that call next to no operators there and no files, and in the others.
	lastPython, last []facts.Chain
}

// outsideSpot is a place outside of the steps; last says that it is one after the last of them.
type outsideSpot struct {
	facts.Spot
	last bool
}

// hottest is where most of the work on tensors is, and where most of it is after the last step, most first; places that are not worth a
// word are left out. What runs after the last step counts to the first where it is the same function.
func (w *outside) hottest(c *facts.Facts) (out []outsideSpot) {
	keep := func(sp facts.Spot, last bool) {
		if sp.Samples >= facts.MinSamples && sp.Unit >= price.BetweenShare*c.Wall {
			out = append(out, outsideSpot{sp, last})
		}
	}
	if sp, ok := hottestLoop(c, w.tensors); ok {
		if key := facts.KeyOf(&sp.Frame); !c.Drivers[key] {
			for _, ch := range w.after {
				if slices.ContainsFunc(ch.Frames, func(f model.Frame) bool { return facts.KeyOf(&f) == key }) {
					sp.Unit += ch.Weight
					sp.Samples++
					sp.Members = append(sp.Members, ch.Index)
				}
			}
		}
		keep(sp, false)
	}
	if sp, ok := hottestLoop(c, w.last); ok {
		keep(sp, true)
	}
	slices.SortStableFunc(out, func(a, b outsideSpot) int { return cmp.Compare(b.Unit, a.Unit) })
	return out
}

// hottestLoop is where most of the chains are: the outermost loop below the drivers that holds most of them, as what is called in it one by
// one could be called at once, or the hottest function where that takes more.
func hottestLoop(c *facts.Facts, chains []facts.Chain) (facts.Spot, bool) {
	type loop struct {
		function facts.FuncKey
		line     int
	}
	var most loop
	held := map[loop][]facts.Chain{} // cut at the function that loops
	for _, ch := range chains {
		for n := range ch.Frames {
			f := &ch.Frames[n]
			line := 0
			if !c.Drivers[facts.KeyOf(f)] {
				line = code.LoopAt(c.S.Sources[c.Text(f.File)], int(f.Line))
			}
			if line > 0 {
				l := loop{facts.KeyOf(f), line}
				held[l] = append(held[l], facts.Chain{Frames: ch.Frames[n:], Weight: ch.Weight, Index: ch.Index})
				break
			}
		}
	}
	for l, list := range held {
		if t, than := facts.Sum(list), facts.Sum(held[most]); t > than || t == than && l.line > most.line {
			most = l
		}
	}
	sp, ok := facts.Hottest(chains, c.Drivers)
	if unit := facts.Sum(held[most]); ok && unit >= sp.Unit && unit > 0 {
		return facts.SpotOf(held[most], 0, unit), true
	}
	return sp, ok
}

func outsideSteps(c *facts.Facts) (w outside) {
	busy := c.StepsAndPauses(func(model.Str) bool { return true })
	if len(busy) == 0 {
		return w
	}
	sm, end := &c.P.Samples, busy[len(busy)-1].End
	type function struct {
		key   facts.FuncKey
		after bool // the last step
	}
	functionOf := func(a *account.Attributed) function {
		return function{facts.KeyOf(&c.C.Stacks.Frames[c.C.Info(sm.Stack[a.Index]).User]), sm.Time[a.Index] >= end}
	}
	ops, all := map[function]float64{}, map[function]float64{}
	var collecting []times.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanGC {
			collecting = append(collecting, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	collecting = facts.Merged(collecting)
	for _, a := range c.Outside(busy) {
		works := a.Part == account.PartPython || a.Part == account.PartOps || a.Part == account.PartIO
		if !works || c.C.Info(sm.Stack[a.Index]).User < 0 || facts.Inside(collecting, sm.Time[a.Index]) {
			continue
		}
		key := functionOf(&a)
		all[key] += a.Weight
		if a.Part != account.PartPython {
			ops[key] += a.Weight
		}
		w.of = append(w.of, a)
	}
	for _, ch := range facts.ChainsOf(c.C, sm, w.of, func(int, *account.Attributed) bool { return true }) {
		a := &w.of[ch.Index]
		key := functionOf(a)
		switch plain := ops[key] < price.TensorShare*all[key]; {
		case key.after:
			w.after = append(w.after, ch)
			switch {
			case c.B.Steps() < loops || c.P.End > 0 && sm.Time[a.Index] > c.P.End: // the last step is not known
			case !plain:
				w.last = append(w.last, ch)
			case a.Part == account.PartPython:
				w.lastPython = append(w.lastPython, ch)
			}
		case plain && a.Part == account.PartPython:
			w.python = append(w.python, ch)
		case !plain:
			w.tensors = append(w.tensors, ch)
		}
	}
	return w
}
