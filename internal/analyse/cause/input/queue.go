package input

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
	"regexp"
)

// findQueue names waits of the step for a queue, a lock or another process of the program's own; sleeps for a set time are findSleep's.
func findQueue(c *facts.Facts, l finding.Ledger) []finding.Draft {
	f, sp, ok := blockedDraft(c, "queue", func(a *account.Attributed) bool {
		return !setTime(c, a) && !(l.Found(finding.NoDemand) && c.AsksForWork(a))
	})
	if !ok {
		return nil
	}
	f.Title = wording.Say("input.title-sleeps", wording.With("share", c.ShareOf(f.Share, sp.Members)))
	t := c.PerStep(sp.Unit)
	f.Step = f.By(price.Queue).Times(t)
	f.Step.Low *= c.OwnCPU()
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("input.off", wording.Time("off", t), c.Said(), wording.Named("in", finding.In(f.Where)))}
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-wait-less")}
	if pysource.WaitsUpTo(f.Where.Source) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-time-limit"))
	}
	f.Caveat = []wording.Text{wording.Say("input.caveat-other-side")}
	if buildsPool.MatchString(f.Where.Source) {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-pool", c.Said())}
	}
	if v, ok := readAhead(c, sp.Members, sp.Unit); ok && !takeLocks(c, sp.Members) {
		read := v.finding(c)
		read.Ask = nil // the recorded waits are the other thread's
		read.Evidence = append(read.Evidence, wording.Say("input.read-ahead", wording.Named("in", finding.In(f.Where))))
		return []finding.Draft{read}
	}
	if o, ok := c.WaitedFor(sp.Members); ok {
		does := "input.side-works"
		if o.Asleep >= 0.5 {
			does = "input.side-sleeps"
		}
		f.Where = o.Place
		f.Where.Process = o.Process
		f.Evidence = append(f.Evidence, wording.Say(does, wording.Count("samples", o.Samples), wording.Named("side", o.Process),
			wording.Named("in", finding.In(o.Place))))
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-other-side")}
		if o.Asleep < 0.5 && o.Sharing > 1 && float64(o.Sharing) >= c.Cores {
			f.Step = f.By(price.QueueFull).Times(t)
			f.Step.Low *= c.OwnCPU()
			f.Run = c.OverRun(f.Step)
		}
		if o.Sharing > 1 {
			f.Fix.Advice = []wording.Text{wording.Say("input.fix-other-sides", wording.Count("n", o.Sharing))}
		}
		f.Caveat = []wording.Text{wording.Say("input.caveat-faster")}
	}
	if takeLocks(c, sp.Members) {
		f.Where = c.Where(sp) // what the lock is held for is told there
		f.Title = wording.Say("input.title-lock-held", wording.With("share", c.ShareOf(f.Share, sp.Members)))
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-hold")}
	}
	c.AtLoop(&f.Finding, sp.Members)
	return []finding.Draft{f}
}

// buildsPool matches lines that start processes or threads and end them.
var buildsPool = regexp.MustCompile(`\b(Pool|ThreadPool|ProcessPoolExecutor|ThreadPoolExecutor)\(`)

// blockedDraft begins a finding at the place where most of the blocked samples stand that are meant; ok is false where these are too few.
func blockedDraft(c *facts.Facts, sub string, meant func(a *account.Attributed) bool) (f finding.Draft, sp facts.Spot, ok bool) {
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartBlocked && meant(a)
	})
	sp, ok = facts.Hottest(chains, c.Drivers)
	if !ok || c.Share(sp.Unit) < finding.Floor || sp.Samples < facts.MinSamples {
		return f, sp, false
	}
	return finding.NewDraft(finding.Finding{Cause: finding.Input, Sub: sub, Where: c.Where(sp), Share: c.Share(sp.Unit),
		Confidence: c.Basis(sp.Samples)}, finding.Parts{account.PartBlocked: sp.Unit}), sp, true
}

// takeLocks says that most of a wait's samples stand at lines that take a lock.
func takeLocks(c *facts.Facts, members []int) bool {
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
