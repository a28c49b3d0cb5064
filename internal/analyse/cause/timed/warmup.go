package timed

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Prepares is the title of a preparation before the first step.
const Prepares = "warmup.title-prepare"

// FindWarmup names start-up that dominates a short run: imports, preparation before the first step, slow first steps. What
// can be saved is the user's own preparation and compilation; importing PyTorch itself cannot.
func FindWarmup(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep || c.Wall <= 0 || c.P.Start <= 0 {
		return nil
	}
	begin := c.FirstStep()
	if begin <= c.P.Start {
		return nil
	}
	setup := float64(begin - c.P.Start)
	if setup > c.Wall {
		return nil // the clocks of the steps and of the run disagree
	}
	prep, n := preparation(c, begin)
	late := slowFirstSteps(c)
	first := late
	if once, again := compiledLate(c); !again {
		late += once
	}
	late += compiledAfterSteps(c)
	sp, ok := facts.Hottest(prep, nil)
	if !ok || sp.Samples < facts.MinSamples || sp.Unit < price.PreparesLeast*c.Wall {
		sp, ok = facts.Spot{}, false
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Warmup, OfRun: true, Where: finding.Nowhere(), Confidence: c.Basis(n)}, nil)
	switch {
	case ok && sp.Unit >= late:
		prepares(c, &f, sp)
	case late > 0:
		compilesFirst(c, &f, begin, first, late)
	default:
		return nil
	}
	f.Evidence = append(f.Evidence, wording.Say("warmup.start", wording.Time("t", setup), wording.Time("imports", c.ImportTime(begin))))
	f.Caveat = []wording.Text{wording.Say("warmup.caveat")}
	return []finding.Draft{f}
}

// prepares is about the user's own preparation.
func prepares(c *facts.Facts, f *finding.Draft, sp facts.Spot) {
	f.Where = c.Where(sp)
	f.Share = sp.Unit / c.Wall
	f.Title = wording.Say(Prepares, wording.Share("share", f.Share))
	f.Run = f.By(price.Preparation).Times(sp.Unit)
	f.Evidence = []wording.Text{wording.Say("warmup.prepare", wording.Time("t", sp.Unit), wording.Named("in", finding.In(f.Where)))}
	f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-prepare"), wording.Say("warmup.fix-longer")}
}

// compilesFirst is about compilation, late ns of the run, of which first are in the first steps; begin is when those begin.
func compilesFirst(c *facts.Facts, f *finding.Draft, begin model.Time, first, late float64) {
	f.Share = late / c.Wall
	f.Where = compiledAt(c)
	f.Title = wording.Say("warmup.title-compile", wording.Share("share", f.Share))
	own, shared := compilerImports(c, begin)
	f.Run = finding.Bounds(price.FirstSteps.Bounds().Low*late, late+own, late+own+shared)
	if !optimizes(c) {
		f.Run.Mid = f.Run.High
	}
	if first > 0 {
		f.Evidence = append(f.Evidence, wording.Say("warmup.first-steps", wording.Time("t", first)))
	}
	if late > first {
		f.Evidence = append(f.Evidence, wording.Say("warmup.later", wording.Time("t", late-first)))
	}
	if imports := own + shared; imports > finding.Floor*c.Wall {
		id := "warmup.imports"
		if shared > 0 && optimizes(c) {
			id = "warmup.imports-shared"
		}
		f.Evidence = append(f.Evidence, wording.Say(id, wording.Time("t", imports), wording.Time("shared", shared)))
	}
	f.Confidence = c.ExactBasis(1)
	f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-compile")}
	if cachesCode(c) {
		f.Run.Low = 0 // what is left is tracing, which no cache keeps
		f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-compile-cached")}
	}
}

// cachesCode says that no code is made: it is taken from torch.compile's caches, or the backend makes none. Of the samples of compiling few
// make it, then; the others trace the program and import the compiler.
func cachesCode(c *facts.Facts) bool {
	sm := &c.P.Samples
	compiling := c.Compiling()
	all, makes := 0, 0
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) != c.B.Thread || !facts.Inside(compiling, sm.Time[i]) {
			continue
		}
		all++
		if c.Passes(sm.Stack[i], "/torch/_inductor/compile_fx.py", "codegen_and_compile", false) ||
			c.Passes(sm.Stack[i], "/torch/_inductor/graph.py", "compile_to", false) {
			makes++
		}
	}
	return all >= facts.MinSamples && float64(makes) < price.CachedMakes*float64(all)
}

// compiledAt is the user's line from which most of what is compiled was called, as samples of compiling tell; where there are too few
// of them, as those of running it do; else the longest compilation's own place, where that is the user's.
func compiledAt(c *facts.Facts) finding.Where {
	sm := &c.P.Samples
	compiling := c.Compiling()
	var during, running []account.Attributed
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) != c.B.Thread {
			continue
		}
		a := account.Attributed{Index: i, Weight: 1}
		if facts.Inside(compiling, sm.Time[i]) {
			during = append(during, a)
		} else if c.Passes(sm.Stack[i], "/torch/_dynamo/eval_frame.py", "", false) && c.C.Info(sm.Stack[i]).Acts&code.ActBackward == 0 {
			running = append(running, a)
		}
	}
	for _, list := range [][]account.Attributed{during, running} {
		chains := facts.ChainsOf(c.C, sm, list, func(int, *account.Attributed) bool { return true })
		if len(chains) < facts.MinSamples {
			continue
		}
		if sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers); ok {
			return c.Where(sp)
		}
	}
	for _, g := range spanGroups(c, model.SpanCompile, 0) {
		if w := c.At(g.file, g.line); w.File != "" && code.ClassifyFile(w.File) == code.FileUser {
			return w
		}
	}
	return finding.Nowhere()
}

// StartUp is the time in ns from the start of the process to the end of its warm-up steps, and how much of it imports take; 0
// where the account is not of steps.
func StartUp(c *facts.Facts) (total, imports float64) {
	until := c.AfterWarmup()
	if !c.B.PerStep || c.P.Start <= 0 || until <= c.P.Start {
		return 0, 0
	}
	if total = float64(until - c.P.Start); total > c.Wall {
		return 0, 0
	}
	return total, c.ImportTime(until)
}

// preparation is the samples of the main thread before the first step that are not in an import and wait for no one else, by user line.
// Those in which our own profiler stopped the program are none of the program's.
func preparation(c *facts.Facts, until model.Time) ([]facts.Chain, int) {
	sm := &c.P.Samples
	var att []account.Attributed
	var first model.Time
	pauses := c.SpansOf(model.SpanProfiler)
	for i := 0; i < sm.Len() && sm.Time[i] < until; i++ {
		if int(sm.Thread[i]) != c.B.Thread || facts.Inside(pauses, sm.Time[i]) {
			continue
		}
		if first == 0 {
			first = sm.Time[i]
		}
		att = append(att, account.Attributed{Index: i})
	}
	if len(att) == 0 {
		return nil, 0
	}
	own := float64(until - first)
	for _, p := range pauses {
		own -= float64(max(min(p.End, until)-max(p.Start, first), 0)) // those that come later count nothing
	}
	each := own / float64(len(att))
	for i := range att {
		att[i].Weight = each
	}
	chains := facts.ChainsOf(c.C, sm, att, func(_ int, a *account.Attributed) bool {
		info := c.C.Info(sm.Stack[a.Index])
		waits := facts.Sleeping(sm, a.Index) && (info.Acts&(code.ActQueue|code.ActServer) != 0 || waitsForRanks(info))
		return !waits && info.Acts&(code.ActImport|code.ActLoader|code.ActWorkers) == 0
	})
	return chains, len(chains)
}

// waitsForRanks says that a stack that sleeps does so until the other ranks come: at the start of a process group or at a barrier, not
// while it reads what torch.distributed keeps in files.
func waitsForRanks(info code.StackInfo) bool {
	return info.Acts&code.ActCollective != 0 && info.Acts&(code.ActCheckpoint|code.ActFile) == 0
}

// slowFirstSteps is how much longer the warm-up steps took than as many later ones, as far as compiling explains it: other
// first-time costs (memory, thread pools, caches) cannot be saved.
func slowFirstSteps(c *facts.Facts) float64 {
	if c.B.Phase != model.PhaseBaseline {
		return 0
	}
	extra := 0.0
	for i := range c.P.Steps {
		st := &c.P.Steps[i]
		if st.Phase == model.PhaseWarmup && st.Kind == c.B.Kind {
			extra += max(float64(st.End-st.Start)-c.B.Median, 0)
		}
	}
	var compiling []times.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanCompile && sp.End > sp.Start && (c.Warm() == 0 || sp.Start < c.Warm()) {
			compiling = append(compiling, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return min(extra, times.Covered(compiling))
}

// compilerImports is the time before an instant, in ns, in which calls of torch.compile import the compiler, as samples saw it. shared
// is what of it goes into torch._dynamo itself, which every optimizer of torch.optim imports where nothing has before (2.1 to 2.15).
func compilerImports(c *facts.Facts, until model.Time) (own, shared float64) {
	known := map[model.StackID][2]bool{}
	during := func(i int) [2]bool {
		id := c.P.Samples.Stack[i]
		found, ok := known[id]
		if !ok && c.C.Info(id).Acts&code.ActImport != 0 && c.Passes(id, "/torch/__init__.py", "compile", false) {
			found = [2]bool{true, c.Passes(id, "/torch/_dynamo/__init__.py", "<module>", false)}
		}
		known[id] = found
		return found
	}
	all := c.SampledTime(0, until, func(i int) bool { return during(i)[0] })
	shared = c.SampledTime(0, until, func(i int) bool { return during(i)[1] })
	return all - shared, shared
}

// optimizes says that an optimizer of torch.optim works in the steps.
func optimizes(c *facts.Facts) bool {
	for i := range c.B.Samples {
		if c.C.Info(c.P.Samples.Stack[c.B.Samples[i].Index]).Acts&code.ActOptimizer != 0 {
			return true
		}
	}
	return c.B.Ops != nil && c.B.Ops.OptimizerTop > 0
}

// compiledAfterSteps is the time of compilations that begin after the last step, in ns, such as a validation's at the end.
func compiledAfterSteps(c *facts.Facts) float64 {
	t := 0.0
	for _, iv := range c.Compiling() {
		if iv.Start >= c.LastStep() {
			t += float64(iv.End - iv.Start)
		}
	}
	return t
}
