package cause

import (
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
	f.Title = wording.Say("input.title-sleeps", wording.With("share", c.shareOf(f.Share, sp.members)))
	t := c.perStep(sp.unit)
	f.Step = f.by(price.Queue).Times(t)
	f.Step.Low *= c.ownCPU()
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("input.off", wording.Time("off", t), c.unit(), wording.Named("in", in(f.Where)))}
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-wait-less")}
	f.Caveat = []wording.Text{wording.Say("input.caveat-other-side")}
	if v, ok := c.readAhead(sp.members, sp.unit); ok && !c.takeLocks(sp.members) {
		read := v.finding(c)
		read.ask = nil // the recorded waits are the other thread's
		read.Evidence = append(read.Evidence, wording.Say("input.read-ahead", wording.Named("in", in(f.Where))))
		return []Draft{read}
	}
	if o, ok := c.waitedFor(sp.members); ok {
		does := "input.side-works"
		if o.asleep >= 0.5 {
			does = "input.side-sleeps"
		}
		f.Where = o.place
		f.Where.Process = o.process
		f.Evidence = append(f.Evidence, wording.Say(does, wording.Count("samples", o.samples), wording.Named("side", o.process),
			wording.Named("in", in(o.place))))
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-other-side")}
		f.Caveat = []wording.Text{wording.Say("input.caveat-faster")}
	}
	if c.takeLocks(sp.members) {
		f.Where = c.where(sp) // what the lock is held for is told there
		f.Title = wording.Say("input.title-lock-held", wording.With("share", c.shareOf(f.Share, sp.members)))
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-hold")}
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
