package machine

import (
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindThreads names more intra-op threads than cores, where operators compute on these.
func FindThreads(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.Cores <= 0 {
		return nil
	}
	ranks := float64(facts.LocalRanks(c))
	threads := facts.TorchThreads(c)
	factor := threads * ranks / c.Cores
	if factor < price.ManyThreads || c.OnlyLaunches() {
		return nil
	}
	busy := c.B.Part(account.PartOps)
	if c.Share(busy) < finding.Floor {
		return nil // nothing computes: a program that hangs has no threads to spare
	}
	// Between nothing (few long matrix products) and nearly all (many short operators, which wait for a thread that is not running).
	row := price.Oversubscribed
	row.Mid *= min((factor-1)/2, 1)
	if ranks > 1 && threads > 1 && threads <= c.Cores {
		// Each process takes the cores for its own: its threads go on spinning at the end of each parallel region while another's wait
		// for a core, and so do those of a collective.
		busy += c.B.Part(account.PartComm)
		row = price.RanksSpin
	}
	cost := row.Bounds()
	f := finding.NewDraft(finding.Finding{Cause: finding.Threads, Where: finding.Nowhere(), Share: c.Share(busy)},
		finding.Parts{account.PartOps: cost.Mid * c.B.Part(account.PartOps)}) // what others claim is not slow for want of cores
	f.Step = cost.Scale(c.PerStep(busy))
	f.Run = overOperators(c, f.Step, cost)
	f.Title = wording.Say("threads.title")
	id := "threads.alone"
	if ranks > 1 {
		id = "threads.ranks"
	}
	f.Evidence = []wording.Text{wording.Say(id, wording.Value("factor", factor), wording.Count("threads", threads),
		wording.Count("ranks", ranks), wording.Value("cores", c.Cores))}
	f.Fix.Advice = []wording.Text{wording.Say("threads.fix")}
	f.Fix.Action = finding.SetThreads(int(max(c.Cores/ranks, 1)))
	f.Caveat = []wording.Text{wording.Say("threads.caveat"), wording.Say("threads.caveat-turns")}
	f.Confidence = finding.Confidence{Level: finding.Low, Why: []wording.Text{wording.Say("threads.basis")}}
	return []finding.Draft{f}
}

// OncePerCore sees to it that too many threads and what the machine withholds do not count the same time twice: both are about operators
// that wait for cores. What was measured stays: on operators with other threads, or else by the kernel's counter of a quota. More cores
// speed up what fewer threads would leave.
func OncePerCore(c *facts.Facts, all []finding.Finding) {
	i := slices.IndexFunc(all, func(f finding.Finding) bool { return f.Cause == finding.Threads && f.Step.Mid > 0 })
	if i < 0 {
		return
	}
	threads, ops := &all[i], c.PerStep(c.B.Part(account.PartOps))
	for k := range all {
		f := &all[k]
		switch {
		case f.Cause != finding.Machine || f.Step.Mid <= 0:
		case f.Sub == "cpu-quota" && threads.Measured:
			f.OnlyPart(max(1-threads.Step.Mid/f.Step.Mid, 0), wording.Say("machine.threads-measured"))
		case f.Sub == "cpu-quota":
			threads.OnlyPart(max(1-f.Step.Mid/threads.Step.Mid, 0), wording.Say("threads.quota-counted"))
		case (f.Sub == "affinity" || f.Sub == "omp-default") && ops > 0:
			f.OnlyPart(max(1-threads.Step.Mid/ops, 0), wording.Say("threads.fewer-first"))
		}
	}
}

// overOperators extrapolates to the run what a fix of all operators saves per step: it saves the same share of the operators that lie
// outside of the accounted kind of steps, such as preparation, the first steps or a validation.
func overOperators(c *facts.Facts, perStep, share finding.Range) finding.Range {
	run, more := c.OverRun(perStep), OperatorsOutside(c)
	return finding.Bounds(run.Low+share.Low*more, run.Mid+share.Mid*more, run.High+share.High*more)
}

// OperatorsOutside is the driving thread's time in operators, in ns, outside of the steps that the account stands for: before them,
// between them, and in the first steps as far as they take longer. It is as samples saw it, without what traced steps take longer.
func OperatorsOutside(c *facts.Facts) float64 {
	if !c.B.PerStep {
		return 0
	}
	other := append(c.Importing(), c.SpansOf(model.SpanProfiler, model.SpanCompile)...)
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Kind == c.B.Kind && st.Phase != model.PhaseWarmup && st.End > st.Start {
			other = append(other, times.Interval{Start: st.Start, End: st.End})
		}
	}
	other = facts.Merged(other)
	seen := c.SampledTime(0, math.MaxInt64, func(i int) bool {
		return !facts.Inside(other, c.P.Samples.Time[i]) && c.B.PartOf(c.C, i) == account.PartOps
	})
	return max(seen-c.PerStep(c.B.Part(account.PartOps))*float64(c.WarmSteps()), 0)
}
