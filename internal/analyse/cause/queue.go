package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findQueue names waits of the step for a queue, a lock or another process of the program's own.
func (c *Facts) findQueue(l Ledger) []Draft {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		return a.Part == analyse.PartBlocked && !(l.Found(NoDemand) && c.asksForWork(a))
	})
	sp, ok := hottest(chains, c.drivers)
	if !ok || c.share(sp.unit) < Floor || sp.samples < minSamples {
		return nil
	}
	f := draft(Finding{Cause: Input, Sub: "queue", Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples)},
		Parts{analyse.PartBlocked: sp.unit})
	f.Title = wording.Raw(fmt.Sprintf("%s sleeps in a call that waits for something else", c.shareOf(f.Share, sp.members)))
	t := c.perStep(sp.unit)
	f.Step = f.by(price.Queue).Times(t)
	f.Step.Low *= c.ownCPU()
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("the thread is off the CPU for %s per %s%s", ms(t), c.Unit(), in(f.Where)), wording.RawFact(t/1e6, "ms"))}
	f.Fix.Advice = []wording.Text{wording.Raw("Start what is waited for earlier, let it run beside the step, or wait for less.")}
	f.Caveat = []wording.Text{wording.Raw("What the other side does meanwhile is not known unless it is a Python process of this run.")}
	if v, ok := c.readAhead(sp.members, sp.unit); ok && !c.takeLocks(sp.members) {
		read := v.finding(c)
		read.ask = nil // the recorded waits are the other thread's
		read.Evidence = append(read.Evidence, wording.Raw(fmt.Sprintf("the thread waits for another one of the process that reads ahead%s", in(f.Where))))
		return []Draft{read}
	}
	if o, ok := c.waitedFor(sp.members); ok {
		does := "work" + o.s()
		if o.asleep >= 0.5 {
			does = o.sleeps()
		}
		f.Where = o.place
		f.Where.Process = o.process
		f.Evidence = append(f.Evidence, wording.Raw(fmt.Sprintf("meanwhile %s %s%s (%s)", o.process, does, in(o.place), plural(o.samples, "sample")), wording.RawFact(float64(o.samples), "")))
		f.Fix.Advice = []wording.Text{wording.Raw("Make this code faster, let several processes do it, or start it earlier: the step waits for it.")}
		f.Caveat = []wording.Text{wording.Raw("The saving assumes that what is waited for becomes faster than the step.")}
	}
	if c.takeLocks(sp.members) {
		f.Where = c.where(sp) // what the lock is held for is told there
		f.Title = wording.Raw(fmt.Sprintf("%s waits for a lock that another thread holds", c.shareOf(f.Share, sp.members)))
		f.Fix.Advice = []wording.Text{wording.Raw("Hold the lock for less work, or give each thread an object of its own, so that none has to wait.")}
	}
	c.atLoop(&f.Finding, sp.members)
	return []Draft{f}
}

// takeLocks says that most of a wait's samples stand at lines that take a lock.
func (c *Facts) takeLocks(members []int) bool {
	n := 0
	for _, m := range members {
		if c.C.TakesLock(c.P.Samples.Stack[c.B.Samples[m].Index]) {
			n++
		}
	}
	return 2*n > len(members)
}

// readyAt finds how many batches of a loader were ready when a wait for it began; -1 where that was not seen. Waits are asked for in the
// order of their starts.
func readyAt(p *model.Process) func(loader int32, from, to model.Time) int32 {
	k := 0
	return func(loader int32, from, to model.Time) int32 {
		const before = 1_000_000 // the queue is looked at just before the wait is timed
		for k < len(p.Queues) && p.Queues[k].Time < from-before {
			k++
		}
		for i := k; i < len(p.Queues) && p.Queues[i].Time <= to; i++ {
			if p.Queues[i].Loader == loader {
				return p.Queues[i].Ready
			}
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
