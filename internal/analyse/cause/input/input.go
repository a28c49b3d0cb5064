package input

import (
	"cmp"
	"math"
	"path"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// inputView is what is known about the wait of the accounted steps for the data of one place.
type inputView struct {
	*inputSite
	wait    float64 // ns over the windows
	others  []*inputSite
	serving []*facts.WorkerView
	fetch   float64 // ns per batch
	workers int
	depth   float64 // mean number of batches that were ready; -1 unknown
	// ns over the windows in waits for the first batch of an iteration, beyond what fetching it takes, and for workers that start
	first    float64
	restart  float64 // ns over the run, between steps, in which workers are started and ended
	steps    float64 // accounted steps ÷ steps of the run
	samples  int
	blocked  float64 // share of the fetch that sleeps
	queued   float64 // share of the wait's samples in a queue from other processes, where no fetch is known
	native   float64 // share of the fetch in native code that has let go of the interpreter's lock
	unpacked float64 // share of the fetch in which arrays are read and unpacked from a NumPy archive
	collated float64 // share of the fetch in which other code than torch's own puts samples together
	hot      facts.Spot
	hotOK    bool
	hotPart  float64                   // share of the fetch in the hot unit
	anew     facts.Spot                // a line of the fetch that makes the same for each sample
	anewPart float64                   // share of the fetch in it; 0 where there is none
	pictures pictures                  // what the fetch does with pictures
	library  bool                      // no line of the program's stands out in the fetch: libraries prepare the samples
	alike    bool                      // the program's own lines prepare a sample alike each time, in native code
	leaves   map[facts.FuncKey]float64 // the fetch's time by the function that was running
	plain    []facts.Chain             // of the fetch's samples those in which a line of the program's itself runs, not what it calls
	release  releaseTime
	cls      *code.FrameClasses
	asleep   []facts.Chain // of the fetch's samples those that sleep, and the others
	awake    []facts.Chain
	mains    map[facts.FuncKey]bool // functions that only lead to the fetch
	all      float64                // the weight of all its samples
	asks     []model.Time           // samples of the fetch that wait in a queue or a pipe for what another thread or process makes
	maker    facts.OtherSide        // who makes that
	served   bool                   // maker is known
	part     account.PartID
	slowest  *facts.WorkerView  // the worker that sets the pace, where one is far slower than the others
	quick    float64            // ns per batch of the others then
	own      bool               // with workers: most of the wait is code of the program's own that __next__ runs, and hot is of that
	bytes    float64            // with workers: share of the wait that copies and unpickles bytes of a pipe
	pieces   float64            // with workers: share of the wait that makes tensors of what came, one by one; -1 unknown
	sets     []finding.Argument // of the DataLoader, as the fix proposes them
	copies   deviceCopies       // without workers: of the fetch, to a device
}

// FindInput prices the waits for data and says where the fetching side spends its time.
func FindInput(c *facts.Facts, l finding.Ledger) []finding.Draft {
	var out []finding.Draft
	sites := inputSites(c, c.B.Thread)
	for i, s := range sites {
		v := input(c, s, slices.Delete(slices.Clone(sites), i, i+1))
		switch {
		case v.wait >= 2*finding.Floor*c.B.Total || v.startsAgain() && v.restart >= finding.Floor*c.Steady:
			out = append(out, v.finding(c))
		case i > 0:
		case v.workers > 0 && v.hotOK:
			out = append(out, v.crowding(c))
		case v.workers > 0 && v.wait > 0:
			if f, ok := v.needless(c); ok {
				out = append(out, f)
			} else {
				out = append(out, v.finding(c))
			}
		case v.wait > 0:
			out = append(out, v.finding(c))
		}
	}
	if len(out) > 1 {
		for i := range out {
			out[i].Ask = nil // a replay changes the fetches of all loaders
		}
	}
	return append(append(out, findQueue(c, l)...), findSleep(c)...)
}

// input looks at the waits at one place; others are those of the steps' other waits, the one with most time first.
func input(c *facts.Facts, s *inputSite, others []*inputSite) *inputView {
	v := &inputView{inputSite: s, others: others, wait: s.share * c.B.Part(account.PartDataWait), part: account.PartDataWait,
		depth: -1, pieces: -1, leaves: map[facts.FuncKey]float64{}, steps: float64(len(c.B.Windows)) / float64(max(c.Steps, 1))}
	if v.loader != nil {
		v.workers = v.loader.Workers
		if d, ok := QueueDepth(c.P, int(s.index)); ok {
			v.depth = d
		}
	}
	v.serving = serving(c, s)
	if v.workers == 0 && v.loader == nil {
		v.workers = len(v.serving)
	}
	if v.workers > 0 {
		within, between := startingWorkers(c)
		v.restart = s.share * between
		inputOfWorkers(c, v)
		inputBesideWorkers(c, v)
		v.findAnew(c)
		v.first = min(max(0, s.begins-float64(s.firsts)*v.fetch)+s.share*within, v.wait) // workers that are kept fetch it, too
		return v
	}
	if s.fetches > 0 {
		v.fetch = s.fetch / float64(s.fetches)
	} else if s.batches > 0 {
		v.fetch = v.wait / float64(s.batches)
	}
	inputOfSelf(c, v)
	v.findAnew(c)
	v.alike = v.preparesAlike(c)
	v.copies = v.copying(c)
	return v
}

// startingWorkers is the time in which the driving thread starts or ends workers: in accounted steps outside of measured waits, in ns over
// the windows, and between the steps after the warm-up, in ns over the run.
func startingWorkers(c *facts.Facts) (within, between float64) {
	sm := &c.P.Samples
	starts := func(i int) bool { return c.C.Info(sm.Stack[i]).Acts&code.ActWorkers != 0 }
	for _, a := range c.B.Samples {
		if a.Part == account.PartDataWait && !a.Exact && starts(a.Index) {
			within += a.Weight
		}
	}
	steps := make([]times.Interval, 0, len(c.P.Steps))
	for i := range c.P.Steps {
		steps = append(steps, times.Interval{Start: c.P.Steps[i].Start, End: c.P.Steps[i].End})
	}
	slices.SortFunc(steps, func(a, b times.Interval) int { return cmp.Compare(a.Start, b.Start) })
	return within, c.SampledTime(c.AfterWarmup(), math.MaxInt64, func(i int) bool {
		return starts(i) && (!c.B.PerStep || !facts.Inside(steps, sm.Time[i]))
	})
}

// waitsAt says that a wait at an instant is for the place's data, as far as is known: it is for no other place's.
func (v *inputView) waitsAt(t model.Time) bool {
	return !slices.ContainsFunc(v.others, func(o *inputSite) bool { return facts.Inside(o.waits, t) })
}

// released says that the sampled thread computes in native code without the interpreter's lock.
func released(sm *model.Samples, i int) bool {
	return sm.State[i] == model.StateCPU && sm.Flags[i]&(model.SampleHoldsGIL|model.SampleAttached|model.SampleInProcess) == 0
}

// elsewhere says that other processes fetch, as the wait in their queue shows, and that nothing else is known of them: the agent was not
// there, or what it wrote is lost.
func (v *inputView) elsewhere() bool { return v.workers == 0 && v.queued >= 0.5 }

// sub tells what slows the fetching side; "" where it is not known.
func (v *inputView) sub(c *facts.Facts) string {
	spare := v.spares(c)
	switch {
	case v.startsAgain():
		return "workers"
	case v.elsewhere():
		return ""
	case v.own:
		return "transform"
	case v.workers > 0 && v.idle >= 0.5*v.wait && v.pace()*v.perStep(c) < price.WorkersPace*float64(v.workers)*c.B.Mean():
		return "handover" // batches are ready: what makes them is not what is waited for
	case v.served:
		return "queue"
	case v.copies.singly():
		return "copies"
	case v.samples >= 10 && (v.blocked >= 0.5 || v.asking()) || v.fetchesFromDisk(c):
		return "storage"
	case v.light(), v.unpacks(), v.makesAnew(), v.shrinks(), v.onceBeatsWorkers(c):
		return "transform"
	case spare && v.native >= price.NativeFetch:
		return "workers" // native code already: more of it at once is what helps
	case v.hotOK && v.hotPart >= price.HotFetch:
		return "transform"
	case spare:
		return "workers"
	}
	return "transform"
}

// startsAgain says that most of the wait is for workers that start, or start over, in each iteration.
func (v *inputView) startsAgain() bool {
	if v.workers == 0 || v.loader == nil || v.started < 2 || v.loader.Persistent && !v.rebuilt() && !v.singly() {
		return false
	}
	return v.first+v.restart*v.steps >= 0.5*(v.wait+v.restart*v.steps)
}

// finding prices the wait. Without workers the whole fetch stands in the step; with workers only the wait that is left
// after the fetch has become faster than the step counts, and cores that the workers no longer need come back.
func (v *inputView) finding(c *facts.Facts) finding.Draft {
	sub := v.sub(c)
	v.lead(sub)
	if sub == "handover" {
		v.release = v.releasing(c)
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Input, Sub: sub, Share: v.share(c)}, finding.Parts{v.part: v.wait})
	for part, t := range v.release.parts {
		f.Claim.Parts[part] = t
	}
	if sub == "handover" && v.alone() {
		f.Claim.Parts[account.PartOps] += v.company(c).takes * float64(len(c.B.Windows))
	}
	f.Where = v.place(c, sub)
	saving, row := v.saving(c, sub)
	f.By(row)
	f.Step = saving
	if f.Cost = v.once(c, sub); f.Cost > 0 {
		f.Step.Low, f.Step.Mid = max(f.Step.Low-f.Cost, 0), max(f.Step.Mid-f.Cost, 0)
	}
	if v.elsewhere() {
		f.Step.Low = 0
	}
	f.Run = c.OverRun(f.Step)
	v.describe(c, &f.Finding)
	if q, ok := v.question(c, sub); ok && !v.keepsUp(c) {
		f.Ask = &q
		if sub == "workers" {
			f.Cost, f.Busy = v.firstWorkers(c), v.busy(c)
		}
	}
	f.Confidence = c.Basis(v.samples)
	if v.samples == 0 {
		f.Confidence = c.ExactBasis(v.batches)
		f.Confidence.Why = append(f.Confidence.Why, wording.Say("input.basis-no-line"))
	}
	return f
}

// place is the line of the stage that is blamed; else the one that builds the loader.
func (v *inputView) place(c *facts.Facts, sub string) finding.Where {
	at := finding.Nowhere()
	switch {
	case sub == "queue":
		at = v.maker.Place
		at.Process = v.maker.Process
		return at
	case v.elsewhere() || v.startsAgain() && v.singly():
		if waits, ok := v.waitingLine(c); ok {
			return c.Where(waits)
		}
	case v.hotOK && (sub == "transform" || sub == "storage" || sub == "copies"):
		at = c.Where(v.hot)
		if v.workers > 0 && !v.own {
			at.Process = "DataLoader worker"
		}
		return at
	}
	switch {
	case v.loader != nil && v.loader.File != 0:
		at = c.At(v.loader.File, v.loader.Line)
	case v.hotOK:
		at = c.Where(v.hot)
	}
	return at
}

// waitingLine is the program's line that waits longest for the place's data.
func (v *inputView) waitingLine(c *facts.Facts) (facts.Spot, bool) {
	sm := &c.P.Samples
	return facts.Hottest(facts.ChainsOf(c.C, sm, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartDataWait && v.waitsAt(sm.Time[a.Index])
	}), c.Drivers)
}

// share of the loop's time that waits for data; what starts workers between the steps counts where that is the reason.
func (v *inputView) share(c *facts.Facts) float64 {
	if !v.startsAgain() {
		return c.Share(v.wait + v.release.time)
	}
	return (v.wait + v.restart*v.steps) / (c.B.Total + v.restart*v.steps)
}

// crowding is the finding where the step hardly waits for data because the workers that prepare it take the cores on which
// the step itself would run: their work is the limit all the same.
func (v *inputView) crowding(c *facts.Facts) finding.Draft {
	gain := v.quicker()
	relief := relief(c, v, gain)
	wait := c.PerStep(v.wait)
	f := finding.NewDraft(finding.Finding{Cause: finding.Input, Sub: "transform", Where: c.Where(v.hot),
		Share: (wait + relief) / c.B.Mean(), Confidence: c.Basis(v.samples)}, nil)
	f.Where.Process = "DataLoader worker"
	f.Claim.Parts = finding.Parts{account.PartDataWait: v.wait, account.PartOps: relief * float64(len(c.B.Windows))}
	f.Step = finding.Bounds(price.Crowding.Bounds().Low*relief, relief+gain*wait, relief+wait)
	f.Run = c.OverRun(f.Step)
	if q, ok := v.question(c, f.Sub); ok && facts.TorchThreads(c) == 1 { // a replay takes the steps' operators for one thread
		f.Ask = &q
	}
	v.describe(c, &f.Finding)
	f.Title = wording.Say("input.title-crowding", wording.Share("share", f.Share), c.Said())
	busy := min(v.fetch*v.perStep(c)/c.B.Mean(), float64(v.workers))
	f.Evidence = append(f.Evidence, wording.Say("input.cores", wording.Value("cores", c.OwnCores()),
		wording.Count("threads", facts.TorchThreads(c)), wording.Value("workers", busy)))
	f.Caveat = []wording.Text{wording.Say("input.caveat-crowding")}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	return f
}

// describe writes title, evidence and fix.
func (v *inputView) describe(c *facts.Facts, f *finding.Finding) {
	v.evidence(c, f)
	switch f.Sub {
	case "":
		f.Title = wording.Say("input.title-elsewhere", wording.Share("share", f.Share), c.Said())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-elsewhere")}
	case "transform":
		v.fetchFaster(c, f)
	case "storage":
		v.readEarlier(c, f)
	case "queue":
		v.serve(c, f)
	case "workers":
		v.fetchAtOnce(c, f)
	case "handover":
		v.handOverLess(c, f)
	case "copies":
		v.copyAtOnce(c, f)
	}
	v.turns(f)
	v.warn(c, f)
}

// evidence says how long the wait is, and what is known of the fetch and the queue.
func (v *inputView) evidence(c *facts.Facts, f *finding.Finding) {
	wait, mean := wording.Time("wait", c.PerStep(v.wait)), wording.Time("mean", c.B.Mean())
	f.Evidence = append(f.Evidence, wording.Say("input.wait", wait, mean, c.Said()))
	switch {
	case v.fetch <= 0 || v.elsewhere():
	case v.workers > 0:
		f.Evidence = append(f.Evidence, wording.Say("input.fetch-workers", wording.Time("fetch", v.fetch),
			wording.Count("workers", v.workers)))
	default:
		f.Evidence = append(f.Evidence, wording.Say("input.fetch-alone", wording.Time("fetch", v.fetch)))
	}
	if v.hotOK && v.hot.Samples >= facts.MinSamples {
		f.Evidence = append(f.Evidence, v.hotEvidence(c))
	}
	if file, function, share := v.inside(); v.library && function != "" {
		f.Evidence = append(f.Evidence, wording.Say("input.library", wording.Named("function", finding.ShortFunction(function)),
			wording.Named("file", path.Base(file)), wording.Share("share", share)))
	}
	if (v.library || v.alike) && v.collated > 0 {
		f.Evidence = append(f.Evidence, wording.Say("input.collated", wording.Share("share", v.collated)))
	}
	if f.Cost > 0 {
		f.Evidence = append(f.Evidence, wording.Say("input.rounds", wording.Value("rounds", v.rounds()),
			wording.Time("once", f.Cost*float64(max(c.Steps, 1)))))
	}
	if v.release.time > 0 {
		f.Evidence = append(f.Evidence, wording.Say("input.release", wording.Time("release", c.PerStep(v.release.time)), c.Said()))
	}
	if v.depth >= 0 {
		f.Evidence = append(f.Evidence, wording.Say("input.ready", wording.Value("ready", v.depth)))
	}
}

// warn says what the fix costs and what its price assumes.
func (v *inputView) warn(c *facts.Facts, f *finding.Finding) {
	f.Caveat = []wording.Text{wording.Say("input.caveat-limit")}
	if v.alone() && f.Sub == "handover" {
		return
	}
	if v.proposes(NumWorkers) {
		f.Caveat = append(f.Caveat, wording.Say("input.caveat-workers"))
	}
	if v.proposes(NumWorkers) || v.proposes(prefetchFactor) {
		f.Caveat = append(f.Caveat, c.RoomForWorkers()...)
	}
	if v.proposes(NumWorkers) && v.workers == 0 {
		f.Caveat = append(f.Caveat, wording.Say("input.caveat-open"))
	}
}
