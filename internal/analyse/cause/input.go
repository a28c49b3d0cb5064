package cause

import (
	"fmt"
	"math"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// inputView is what is known about the data wait of the accounted steps.
type inputView struct {
	wait    float64 // ns over the windows
	loader  *model.Loader
	fetch   float64 // ns per batch
	batches int     // fetched or waited for in the windows
	workers int
	depth   float64 // mean number of batches that were ready; -1 unknown
	first   float64 // ns over the windows in waits for the first batch of an epoch
	idle    float64 // ns over the windows in waits although a batch was ready
	samples int
	blocked float64 // share of the fetch that sleeps
	native  float64 // share of the fetch in native code that has let go of the interpreter's lock
	hot     spot
	hotOK   bool
	hotPart float64 // share of the fetch in the hot unit
	cls     *analyse.FrameClasses
}

// findInput prices the wait for data and says where the fetching side spends its time.
func findInput(c *Context) []Finding {
	var out []Finding
	v := c.input()
	switch {
	case v.wait >= 2*Floor*c.B.Total:
		out = append(out, v.finding(c))
	case v.workers > 0 && v.hotOK:
		out = append(out, v.crowding(c))
	case v.wait > 0:
		out = append(out, v.finding(c))
	}
	return append(out, c.findQueue()...)
}

func (c *Context) input() *inputView {
	v := &inputView{wait: c.B.Part(analyse.PartDataWait), depth: -1}
	byLoader := map[int32]float64{}
	own := 0.0
	ownN, last := 0, int64(1<<62)
	ready := readyAt(c.P)
	best := int32(-1)
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if !c.inWindows(sp.End) || sp.Thread != c.B.Thread {
			continue
		}
		switch sp.Kind {
		case model.SpanDataWait:
			v.batches++
			t := c.inSteps(sp.Start, sp.End)
			if sp.Value <= last { // batches are counted anew in each epoch
				v.first += t
			}
			last = sp.Value
			if ready(sp.Start, sp.End) > 0 {
				v.idle += t
			}
			byLoader[sp.Loader] += float64(sp.End - sp.Start)
			if best < 0 || byLoader[sp.Loader] > byLoader[best] {
				best = sp.Loader
			}
		case model.SpanFetch:
			own += float64(sp.End - sp.Start)
			ownN++
		}
	}
	if best >= 0 && int(best) < len(c.P.Loaders) {
		v.loader = &c.P.Loaders[best]
		v.workers = v.loader.Workers
		if d, ok := QueueDepth(c.P, int(best)); ok {
			v.depth = d
		}
	}
	if v.workers == 0 && len(c.workers) > 0 && v.loader == nil {
		v.workers = len(c.workers)
	}
	if v.workers > 0 {
		v.first += c.startingWorkers()
		c.inputOfWorkers(v)
	} else {
		if ownN > 0 {
			v.fetch = own / float64(ownN)
		} else if v.batches > 0 {
			v.fetch = v.wait / float64(v.batches)
		}
		c.inputOfSelf(v)
	}
	return v
}

// startingWorkers is the time in which the driving thread starts or ends workers, in ns over the windows.
func (c *Context) startingWorkers() float64 {
	t := 0.0
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; !a.Exact && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&analyse.ActWorkers != 0 {
			t += a.Weight
		}
	}
	return t
}

// inputOfSelf looks at the samples of the driving thread inside its data waits: without workers it fetches itself.
func (c *Context) inputOfSelf(v *inputView) {
	sm := &c.P.Samples
	v.cls = c.C
	off, n, all, native := 0, 0, 0.0, 0.0
	chains := chainsOf(c.C, sm, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartDataWait })
	for _, ch := range chains {
		i := c.B.Samples[ch.index].Index
		n++
		all += ch.weight
		if sleeping(sm, i) {
			off++
		}
		if released(sm, i) {
			native++
		}
	}
	if n == 0 {
		return
	}
	v.samples, v.blocked, v.native = n, float64(off)/float64(n), native/float64(n)
	// Frames that lead to the loop's own line belong to the trainer, not to the data set.
	inner := make([]chain, 0, len(chains))
	for _, ch := range chains {
		k := 0
		for k < len(ch.frames) && c.drivers[keyOf(&ch.frames[k])] {
			k++
		}
		ch.frames = ch.frames[k:]
		inner = append(inner, ch)
	}
	v.hot, v.hotOK = hottest(inner, nil)
	v.hotPart = v.hot.unit / all
}

// inputOfWorkers looks at what the workers did while they fetched.
func (c *Context) inputOfWorkers(v *inputView) {
	var chains []chain
	off, all, fetches, fetchTime, native := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, w := range c.workers {
		fetches += float64(len(w.fetches))
		fetchTime += w.mean * float64(len(w.fetches))
		got := chainsOf(w.cls, &w.p.Samples, w.samples, func(int, *analyse.Attributed) bool { return true })
		chains = append(chains, got...)
		off += w.blocked * float64(len(w.samples))
		for k := range w.samples {
			if released(&w.p.Samples, w.samples[k].Index) {
				native++
			}
		}
		v.samples += len(w.samples)
		all += sum(got)
		v.cls = w.cls
	}
	if fetches > 0 {
		v.fetch = fetchTime / fetches
	}
	if v.samples == 0 {
		return
	}
	v.blocked, v.native = off/float64(v.samples), native/float64(v.samples)
	if v.hot, v.hotOK = hottest(chains, workerMains(chains)); all > 0 {
		v.hotPart = v.hot.unit / all
	}
}

// workerMains are user functions that only lead to the fetch: a forked worker's stack begins with the frames of the program
// that started it, and those hold no time of their own.
func workerMains(chains []chain) map[funcKey]bool {
	out := driversOf(chains)
	for _, ch := range chains {
		if n := len(ch.frames); n > 0 {
			delete(out, keyOf(&ch.frames[n-1]))
		}
	}
	return out
}

// nativeFetch is the share of native code without the interpreter's lock from which a fetch is no Python that could be written better.
const nativeFetch = 0.7

// released says that the sampled thread computes in native code without the interpreter's lock.
func released(sm *model.Samples, i int) bool {
	return sm.State[i] == model.StateCPU && sm.Flags[i]&(model.SampleHoldsGIL|model.SampleInProcess) == 0
}

// sub tells what slows the fetching side.
func (v *inputView) sub(c *Context) string {
	spare := c.Cores == 0 || c.Cores >= float64(v.workers)+2
	switch {
	case v.startsAgain():
		return "workers"
	case v.samples >= 10 && v.blocked >= 0.5:
		return "storage"
	case v.workers > 0 && v.idle >= 0.5*v.wait && v.fetch < 0.6*float64(v.workers)*c.B.Mean():
		return "handover"
	case spare && v.native >= nativeFetch:
		return "workers" // native code already: more of it at once is what helps
	case v.hotOK && v.hotPart >= 0.25:
		return "transform"
	case spare:
		return "workers"
	}
	return "transform"
}

// startsAgain says that most of the wait is for workers that are started anew in each epoch.
func (v *inputView) startsAgain() bool {
	return v.workers > 0 && v.batches > 1 && v.first >= 0.5*v.wait && v.loader != nil && !v.loader.Persistent
}

// finding prices the wait. Without workers the whole fetch stands in the step; with workers only the wait that is left
// after the fetch has become faster than the step counts, and cores that the workers no longer need come back.
func (v *inputView) finding(c *Context) Finding {
	sub := v.sub(c)
	f := Finding{Cause: Input, Sub: sub, Where: nowhere(), Share: c.share(v.wait),
		claim: map[analyse.PartID]float64{analyse.PartDataWait: v.wait}}
	if v.hotOK && (sub == "transform" || sub == "storage") {
		f.Where = c.where(v.hot)
	} else if v.loader != nil && v.loader.File != 0 {
		f.Where.File, f.Where.Line = c.text(v.loader.File), int(v.loader.Line)
		f.Where.Source = c.source(f.Where.File, f.Where.Line)
	} else if v.hotOK {
		f.Where = c.where(v.hot)
	}
	if v.workers > 0 {
		f.Where.Process = "DataLoader worker"
	}
	f.Step = v.saving(c, sub)
	f.Run = c.overRun(f.Step)
	v.describe(c, &f)
	f.Confidence = c.basis(v.samples)
	if v.samples == 0 {
		f.Confidence = c.exactBasis(v.batches)
		f.Confidence.Why += "; no samples say which line"
	}
	return f
}

// saving in ns per step.
func (v *inputView) saving(c *Context, sub string) Range {
	wait := c.perStep(v.wait)
	gain := 0.93 * v.hotPart // a line made fast keeps a few per cent of its time
	if v.startsAgain() {
		first := c.perStep(v.first)
		return Range{0.5 * first, 0.9 * first, max(wait, first)}
	}
	switch sub {
	case "workers":
		return v.moreWorkers(c)
	case "handover":
		mine := c.ownCPU() // what other programs' use of the cores delays cannot be saved
		return Range{0.3 * mine * wait, 0.7 * mine * wait, wait}
	case "storage":
		gain = min(0.97*v.blocked, 0.97)
	}
	if v.hotPart == 0 {
		gain = 0.8
	}
	if v.workers == 0 {
		return Range{0.8 * gain * wait, gain * wait, wait}
	}
	rest := max(c.B.Mean()-wait, 0)
	after := v.fetch * (1 - gain) / float64(v.workers)
	relief := c.relief(v, gain)
	left := max(after-(rest-relief), 0)
	// Only as much of the wait as the workers' throughput explains ends with faster fetching; the rest is starting them, handing
	// over and chance.
	explained := min(wait, max(v.fetch/float64(v.workers)-rest, 0))
	sure := max(explained-left, 0)
	return Range{0.85 * sure, sure + 0.25*(wait-explained) + relief/3, wait + relief}
}

// moreWorkers prices as many workers as would keep up with the step, in ns per step: a step then lasts as long as its own
// work, the workers' share of fetching, or all that has to be computed spread over the cores, whichever is longest.
func (v *inputView) moreWorkers(c *Context) Range {
	wait, step := c.perStep(v.wait), c.B.Mean()
	rest := max(step-wait, 0)
	n := float64(v.suggestWorkers(c))
	after := max(rest, v.fetch/n)
	if c.Cores > 0 {
		after = max(after, (rest+v.fetch*(1-v.blocked))/c.Cores)
	}
	mid := min(max(step-1.03*after, 0), wait)
	return Range{0.6 * mid, mid, max(min(1.3*mid, wait), mid)}
}

// relief is what the step's own operators gain per step when workers no longer compete with them for cores. While both
// sides are busy each of n runnable threads gets cores/n; only as much is counted as the workers' shrinking demand frees.
func (c *Context) relief(v *inputView, gain float64) float64 {
	ops := c.perStep(c.B.Part(analyse.PartOps) + c.B.Part(analyse.PartPython))
	if c.Cores <= 0 || ops == 0 || c.B.Mean() == 0 {
		return 0
	}
	busy := min(v.fetch/c.B.Mean(), float64(v.workers)) * (1 - v.blocked)
	threads := min(torchThreads(c), c.Cores)
	before := max((threads+busy)/c.Cores, 1)
	after := max((threads+busy*(1-gain))/c.Cores, 1)
	return ops * (1 - after/before)
}

// crowding is the finding where the step hardly waits for data because the workers that prepare it take the cores on which
// the step itself would run: their work is the limit all the same.
func (v *inputView) crowding(c *Context) Finding {
	gain := 0.93 * v.hotPart
	relief := c.relief(v, gain)
	wait := c.perStep(v.wait)
	f := Finding{Cause: Input, Sub: "transform", Where: c.where(v.hot), Share: (wait + relief) / c.B.Mean(), Confidence: c.basis(v.samples)}
	f.Where.Process = "DataLoader worker"
	f.claim = map[analyse.PartID]float64{analyse.PartDataWait: v.wait, analyse.PartOps: relief * float64(len(c.B.Windows))}
	f.Step = Range{0.3 * relief, 0.75*relief + gain*wait, relief + wait}
	f.Run = c.overRun(f.Step)
	v.describe(c, &f)
	f.Title = fmt.Sprintf("%s of each %s is lost because the workers that prepare data take the cores that it needs", percent(f.Share), c.Unit())
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%.3g cores for %.0f computing threads and %.1f busy workers", c.Cores, torchThreads(c), min(v.fetch/c.B.Mean(), float64(v.workers)))})
	f.Caveat = "Estimated from the number of threads that compete for the cores, not measured."
	if f.Confidence.Level == High {
		f.Confidence.Level = Medium
	}
	return f
}

// ownCPU is the share of the machine that other programs left, 0..1.
func (c *Context) ownCPU() float64 {
	busy := c.S.Environment.OthersBusyCores
	if busy == nil || c.Cores <= 0 {
		return 1
	}
	return max(1-*busy/c.Cores, 0)
}

// describe writes title, evidence and fix.
func (v *inputView) describe(c *Context, f *Finding) {
	share := percent(f.Share)
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of %s per %s, on average, are spent waiting for the next batch", ms(c.perStep(v.wait)), ms(c.B.Mean()), c.Unit()),
		Value: c.perStep(v.wait) / 1e6, Unit: "ms"})
	if v.fetch > 0 {
		by := "the program itself (no workers)"
		if v.workers > 0 {
			by = plural(v.workers, "worker")
		}
		f.Evidence = append(f.Evidence, Evidence{Text: "a batch takes " + ms(v.fetch) + " to fetch, done by " + by, Value: v.fetch / 1e6, Unit: "ms"})
	}
	if v.hotOK && v.samples > 0 {
		w := c.where(v.hot)
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of the fetching time is%s (%s)", percent(v.hotPart), in(w), plural(v.hot.samples, "sample")),
			Value: v.hotPart})
	}
	if v.depth >= 0 {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%.1f batches were ready on average when the next one was asked for", v.depth), Value: v.depth})
	}
	switch f.Sub {
	case "transform":
		f.Title = fmt.Sprintf("%s of each %s waits for data that is prepared too slowly", share, c.Unit())
		f.Fix.Text = "Make this code faster: work on whole arrays or tensors instead of single elements, do once what does not change between epochs, or use a library that does it in native code."
		if v.workers == 0 && (c.Cores == 0 || c.Cores >= 2) {
			f.Fix.Text += " Workers would hide part of it."
			f.Fix.Change = fmt.Sprintf("DataLoader(..., num_workers=%d, persistent_workers=True)", v.suggestWorkers(c))
			v.atLoader(c, f)
		}
	case "storage":
		f.Title = fmt.Sprintf("%s of each %s waits for storage", share, c.Unit())
		f.Fix.Text = "Read less or read earlier: larger files read in sequence, a local copy or cache, more workers (they sleep while they wait and cost no core)."
		f.Fix.Change = fmt.Sprintf("DataLoader(..., num_workers=%d, persistent_workers=True)", max(2*v.workers, 4))
		v.atLoader(c, f)
	case "workers":
		f.Title = fmt.Sprintf("%s of each %s waits for data: too few workers fetch it", share, c.Unit())
		f.Fix.Text = "Let more processes fetch while the step runs; there are cores to spare."
		if v.startsAgain() {
			f.Title = fmt.Sprintf("%s of each %s waits for data: workers are started anew in each epoch", share, c.Unit())
			f.Fix.Text = "Keep the workers between epochs."
			f.Fix.Change = fmt.Sprintf("DataLoader(..., num_workers=%d, persistent_workers=True)", v.workers)
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of it is for starting workers and for the first batch of an epoch", percent(v.first/v.wait)), Value: v.first / v.wait})
			v.atLoader(c, f)
			break
		}
		f.Fix.Change = fmt.Sprintf("DataLoader(..., num_workers=%d, persistent_workers=True)", v.suggestWorkers(c))
		v.atLoader(c, f)
	case "handover":
		f.Title = fmt.Sprintf("%s of each %s waits although batches are ready: handing them over is slow", share, c.Unit())
		f.Fix.Text = "Hand over less: fewer and larger tensors per batch, no Python objects, no pinning in the main process."
	}
	f.Caveat = "Savings assume that nothing else becomes the limit; workers cost memory and change the order of random numbers."
}

func (v *inputView) atLoader(c *Context, f *Finding) {
	if v.loader != nil && v.loader.File != 0 {
		f.Fix.File, f.Fix.Line = c.text(v.loader.File), int(v.loader.Line)
	}
}

// suggestWorkers is the number of workers that would fetch as fast as the step goes on, within the cores; those that sleep
// need none. The trainer shares a core with them where that is what keeps up.
func (v *inputView) suggestWorkers(c *Context) int {
	rest := max(c.B.Mean()-c.perStep(v.wait), 0.02*c.B.Mean(), 1)
	need := math.Ceil(v.fetch / rest)
	most := 16.0
	if c.Cores > 0 && v.blocked < 0.5 {
		most = min(most, max(math.Round(c.Cores), 1))
	}
	return int(max(min(need, most), float64(v.workers), 1))
}

// findQueue names waits of the step for a queue, a lock or another process of the program's own.
func (c *Context) findQueue() []Finding {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		return a.Part == analyse.PartBlocked && !(c.idle && c.asksForWork(a))
	})
	sp, ok := hottest(chains, c.drivers)
	if !ok || c.share(sp.unit) < Floor || sp.samples < minSamples {
		return nil
	}
	f := Finding{Cause: Input, Sub: "queue", Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples),
		claim: map[analyse.PartID]float64{analyse.PartBlocked: sp.unit}}
	f.Title = fmt.Sprintf("%s sleeps in a call that waits for something else", c.shareOf(f.Share, sp.members))
	t := c.perStep(sp.unit)
	f.Step = Range{0.5 * t, 0.95 * t, t}
	f.Run = c.overRun(f.Step)
	f.Evidence = []Evidence{{Text: fmt.Sprintf("the thread is off the CPU for %s per %s%s", ms(t), c.Unit(), in(f.Where)), Value: t / 1e6, Unit: "ms"}}
	f.Fix.Text = "Start what is waited for earlier, let it run beside the step, or wait for less."
	f.Caveat = "What the other side does meanwhile is not known unless it is a Python process of this run."
	if o, ok := c.waitedFor(sp.members); ok {
		does := "works"
		if o.asleep >= 0.5 {
			does = "sleeps or reads"
		}
		f.Where = o.place
		f.Where.Process = o.process
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("meanwhile %s %s%s (%s)", o.process, does, in(o.place), plural(o.samples, "sample")), Value: float64(o.samples)})
		f.Fix.Text = "Make this code faster, let several processes do it, or start it earlier: the step waits for it."
		f.Caveat = "The saving assumes that what is waited for becomes faster than the step."
	}
	return []Finding{f}
}

// readyAt finds how many batches were ready when a wait began; -1 where that was not seen.
func readyAt(p *model.Process) func(from, to model.Time) int32 {
	k := 0
	return func(from, to model.Time) int32 {
		const before = 1_000_000 // the queue is looked at just before the wait is timed
		for k < len(p.Queues) && p.Queues[k].Time < from-before {
			k++
		}
		if k < len(p.Queues) && p.Queues[k].Time <= to {
			return p.Queues[k].Ready
		}
		return -1
	}
}

// QueueDepth is the mean number of batches that were ready when a DataLoader of p was asked; ok is false where it was not seen.
func QueueDepth(p *model.Process, loader int) (mean float64, ok bool) {
	sum, n := 0.0, 0.0
	for _, q := range p.Queues {
		if int(q.Loader) == loader {
			sum += float64(q.Ready)
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / n, true
}
