package cause

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findWarmup names start-up that dominates a short run: imports, preparation before the first step, slow first steps. What
// can be saved is the user's own preparation and compilation; importing PyTorch itself cannot.
func findWarmup(c *Facts, _ Ledger) []Draft {
	if !c.B.PerStep || c.Wall <= 0 || c.P.Start <= 0 {
		return nil
	}
	begin := c.firstStep()
	if begin <= c.P.Start {
		return nil
	}
	setup := float64(begin - c.P.Start)
	if setup > c.Wall {
		return nil // the clocks of the steps and of the run disagree
	}
	prep, n := c.preparation(begin)
	late := c.slowFirstSteps()
	first := late
	if once, again := c.compiledLate(); !again {
		late += once
	}
	late += c.compiledAfterSteps()
	sp, ok := hottest(prep, nil)
	if !ok || sp.samples < minSamples {
		sp, ok = spot{}, false
	}
	f := draft(Finding{Cause: Warmup, OfRun: true, Where: nowhere(), Confidence: c.basis(n)}, nil)
	switch {
	case ok && sp.unit >= late:
		c.prepares(&f, sp)
	case late > 0:
		c.compilesFirst(&f, begin, first, late)
	default:
		return nil
	}
	f.Evidence = append(f.Evidence, wording.Say("warmup.start", wording.Time("t", setup), wording.Time("imports", c.importTime(begin))))
	f.Caveat = []wording.Text{wording.Say("warmup.caveat")}
	return []Draft{f}
}

// prepares is about the user's own preparation.
func (c *Facts) prepares(f *Draft, sp spot) {
	f.Where = c.where(sp)
	f.Share = sp.unit / c.Wall
	f.Title = wording.Say("warmup.title-prepare", wording.Share("share", f.Share))
	f.Run = f.by(price.Preparation).Times(sp.unit)
	f.Evidence = []wording.Text{wording.Say("warmup.prepare", wording.Time("t", sp.unit), wording.Named("in", in(f.Where)))}
	f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-prepare"), wording.Say("warmup.fix-longer")}
}

// compilesFirst is about compilation, late ns of the run, of which first are in the first steps; begin is when those begin.
func (c *Facts) compilesFirst(f *Draft, begin model.Time, first, late float64) {
	f.Share = late / c.Wall
	f.Where = c.compiledAt()
	f.Title = wording.Say("warmup.title-compile", wording.Share("share", f.Share))
	own, shared := c.compilerImports(begin)
	f.Run = bounds(price.FirstSteps.Bounds().Low*late, late+own, late+own+shared)
	if !c.optimizes() {
		f.Run.Mid = f.Run.High
	}
	if first > 0 {
		f.Evidence = append(f.Evidence, wording.Say("warmup.first-steps", wording.Time("t", first)))
	}
	if late > first {
		f.Evidence = append(f.Evidence, wording.Say("warmup.later", wording.Time("t", late-first)))
	}
	if imports := own + shared; imports > Floor*c.Wall {
		id := "warmup.imports"
		if shared > 0 && c.optimizes() {
			id = "warmup.imports-shared"
		}
		f.Evidence = append(f.Evidence, wording.Say(id, wording.Time("t", imports), wording.Time("shared", shared)))
	}
	f.Confidence = c.exactBasis(1)
	f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-compile")}
}

// compiledAt is the user's line from which most of what is compiled was called, as samples of compiling tell; where there are too few
// of them, as those of running it do; else the longest compilation's own place, where that is the user's.
func (c *Facts) compiledAt() Where {
	sm := &c.P.Samples
	compiling := c.compiling()
	var during, running []analyse.Attributed
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) != c.B.Thread {
			continue
		}
		a := analyse.Attributed{Index: i, Weight: 1}
		if inside(compiling, sm.Time[i]) {
			during = append(during, a)
		} else if c.passes(sm.Stack[i], "/torch/_dynamo/eval_frame.py", "", false) && c.C.Info(sm.Stack[i]).Acts&analyse.ActBackward == 0 {
			running = append(running, a)
		}
	}
	for _, list := range [][]analyse.Attributed{during, running} {
		chains := chainsOf(c.C, sm, list, func(int, *analyse.Attributed) bool { return true })
		if len(chains) < minSamples {
			continue
		}
		if sp, ok := hottest(upToDriver(chains, c.drivers), c.drivers); ok {
			return c.where(sp)
		}
	}
	for _, g := range c.spanGroups(model.SpanCompile, 0) {
		if w := c.spanWhere(g); w.File != "" && analyse.ClassifyFile(w.File) == analyse.FileUser {
			return w
		}
	}
	return nowhere()
}

// StartUp is the time in ns from the start of the process to the end of its warm-up steps, and how much of it imports take; 0
// where the account is not of steps.
func (c *Facts) StartUp() (total, imports float64) {
	until := c.afterWarmup()
	if !c.B.PerStep || c.P.Start <= 0 || until <= c.P.Start {
		return 0, 0
	}
	if total = float64(until - c.P.Start); total > c.Wall {
		return 0, 0
	}
	return total, c.importTime(until)
}

// preparation is the samples of the main thread before the first step that are not in an import and wait for no one else, by user line.
func (c *Facts) preparation(until model.Time) ([]chain, int) {
	sm := &c.P.Samples
	var att []analyse.Attributed
	var first model.Time
	for i := 0; i < sm.Len() && sm.Time[i] < until; i++ {
		if int(sm.Thread[i]) != c.B.Thread {
			continue
		}
		if first == 0 {
			first = sm.Time[i]
		}
		att = append(att, analyse.Attributed{Index: i})
	}
	if len(att) == 0 {
		return nil, 0
	}
	each := float64(until-first) / float64(len(att))
	for i := range att {
		att[i].Weight = each
	}
	chains := chainsOf(c.C, sm, att, func(_ int, a *analyse.Attributed) bool {
		info := c.C.Info(sm.Stack[a.Index])
		waits := sleeping(sm, a.Index) && (info.Acts&(analyse.ActQueue|analyse.ActServer) != 0 || waitsForRanks(info))
		return !waits && info.Acts&(analyse.ActImport|analyse.ActLoader|analyse.ActWorkers) == 0
	})
	return chains, len(chains)
}

// waitsForRanks says that a stack that sleeps does so until the other ranks come: at the start of a process group or at a barrier, not
// while it reads what torch.distributed keeps in files.
func waitsForRanks(info analyse.StackInfo) bool {
	return info.Acts&analyse.ActCollective != 0 && info.Acts&(analyse.ActCheckpoint|analyse.ActFile) == 0
}

// slowFirstSteps is how much longer the warm-up steps took than as many later ones, as far as compiling explains it: other
// first-time costs (memory, thread pools, caches) cannot be saved.
func (c *Facts) slowFirstSteps() float64 {
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
	var compiling []analyse.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanCompile && sp.End > sp.Start && (c.warm() == 0 || sp.Start < c.warm()) {
			compiling = append(compiling, analyse.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return min(extra, analyse.UnionTime(compiling))
}

// importTime is the time in imports before an instant.
func (c *Facts) importTime(until model.Time) float64 {
	var in []analyse.Interval
	for _, list := range [][]model.Span{c.P.Imports, c.P.Spans} {
		for i := range list {
			if sp := &list[i]; sp.Kind == model.SpanImport && sp.Start < until && sp.End > sp.Start {
				in = append(in, analyse.Interval{Start: sp.Start, End: min(sp.End, until)})
			}
		}
	}
	return analyse.UnionTime(in)
}

// warmSteps is the number of warm-up steps of the accounted kind.
func (c *Facts) warmSteps() int {
	n := 0
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Phase == model.PhaseWarmup && st.Kind == c.B.Kind {
			n++
		}
	}
	return n
}

// compilerImports is the time before an instant, in ns, in which calls of torch.compile import the compiler, as samples saw it. shared
// is what of it goes into torch._dynamo itself, which every optimizer of torch.optim imports where nothing has before (2.1 to 2.15).
func (c *Facts) compilerImports(until model.Time) (own, shared float64) {
	known := map[model.StackID][2]bool{}
	during := func(i int) [2]bool {
		id := c.P.Samples.Stack[i]
		found, ok := known[id]
		if !ok && c.C.Info(id).Acts&analyse.ActImport != 0 && c.passes(id, "/torch/__init__.py", "compile", false) {
			found = [2]bool{true, c.passes(id, "/torch/_dynamo/__init__.py", "<module>", false)}
		}
		known[id] = found
		return found
	}
	all := c.sampledTime(0, until, func(i int) bool { return during(i)[0] })
	shared = c.sampledTime(0, until, func(i int) bool { return during(i)[1] })
	return all - shared, shared
}

// optimizes says that an optimizer of torch.optim works in the steps.
func (c *Facts) optimizes() bool {
	for i := range c.B.Samples {
		if c.C.Info(c.P.Samples.Stack[c.B.Samples[i].Index]).Acts&analyse.ActOptimizer != 0 {
			return true
		}
	}
	return c.B.Ops != nil && c.B.Ops.OptimizerTop > 0
}

// compiledAfterSteps is the time of compilations that begin after the last step, in ns, such as a validation's at the end.
func (c *Facts) compiledAfterSteps() float64 {
	t := 0.0
	for _, iv := range c.compiling() {
		if iv.Start >= c.lastStep() {
			t += float64(iv.End - iv.Start)
		}
	}
	return t
}
