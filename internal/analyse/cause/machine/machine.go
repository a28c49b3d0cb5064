package machine

import (
	"math"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// FindMachine names what the machine withholds.
func FindMachine(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	var out []finding.Draft
	if f, ok := findQuota(c); ok {
		out = append(out, f)
	}
	if f, ok := findOMPDefault(c); ok {
		out = append(out, f)
	} else if f, ok := findAffinity(c); ok {
		out = append(out, f)
	}
	return out
}

// findQuota: the container's CPU quota stopped the program.
func findQuota(c *facts.Facts) (finding.Draft, bool) {
	e := &c.S.Environment
	if e.ThrottledSeconds == nil || e.CPUQuota == nil || *e.ThrottledSeconds <= 0 || c.Wall <= 0 {
		return finding.Draft{}, false
	}
	// The kernel counts the throttled time of every core's queue; the program stands still for at most that, and for at most the run.
	throttled := min(*e.ThrottledSeconds*1e9, c.Wall)
	spread := max(min(facts.TorchThreads(c), float64(max(e.CPUs, 1))), 1)
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "cpu-quota", Where: finding.Nowhere(), OfRun: true,
		Share: throttled / c.Wall}, nil)
	most, likely := withoutQuota(c, *e.CPUQuota, spread)
	f.Run = f.By(price.Quota).Times(throttled / spread)
	f.Run.High = throttled
	f.Run.High = min(f.Run.High, most*c.Wall)
	f.Run.Mid = min(f.Run.Mid, likely*c.Wall, f.Run.High)
	f.Run.Low = min(f.Run.Low, f.Run.Mid)
	f.Step = f.Run.Scale(1 / float64(max(c.Steps, 1)))
	f.Title = wording.Say("machine.title-quota", wording.Value("quota", *e.CPUQuota))
	f.Evidence = []wording.Text{wording.Say("machine.throttled", wording.Time("throttled", throttled), wording.Time("run", c.Wall))}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-quota")}
	if threads, grants := facts.TorchThreads(c), math.Max(math.Floor(*e.CPUQuota), 1); threads > grants {
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-quota-threads", wording.Count("threads", threads))}
		f.Fix.Action = finding.SetThreads(int(grants))
	}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-quota")}
	f.Confidence = finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-quota")}}
	return f, true
}

// withoutQuota bounds the share of the run that more CPU can save: whoever wants n cores' work and is granted q of them at a time computes
// 1/(q/n) times as long, so that 1 − q/n goes at most. likely is by the threads that compute, most by all cores that the program may use:
// code of other libraries has threads of its own. Where the threads want no more than the quota, something else in the container does, and
// only the second bound is known.
func withoutQuota(c *facts.Facts, quota, threads float64) (most, likely float64) {
	gone := func(wanted float64) float64 {
		if wanted <= quota {
			return 0
		}
		return 1 - quota/wanted
	}
	e := &c.S.Environment
	cores := float64(e.CPUs)
	if n := len(e.Affinity); n > 0 {
		cores = float64(n)
	}
	workers := 0
	for _, w := range c.Workers {
		if w.Blocked < 0.5 {
			workers++
		}
	}
	wanted := threads*float64(facts.LocalRanks(c)) + float64(workers)
	if cores <= 0 {
		cores = wanted
	}
	if most, likely = gone(cores), gone(min(wanted, cores)); likely <= 0 {
		likely = most
	}
	return most, likely
}

// findOMPDefault: torchrun sets one thread per rank although there are more cores. Ranks that compute on devices need no more.
func findOMPDefault(c *facts.Facts) (finding.Draft, bool) {
	ranks := float64(facts.LocalRanks(c))
	if strings.TrimSpace(c.S.Environment.Threads["OMP_NUM_THREADS"]) != "1" || c.P.WorldSize < 2 || c.Cores < 2*ranks || c.OnlyLaunches() {
		return finding.Draft{}, false
	}
	f := fewThreads(c, "omp-default", 1, c.Cores/ranks)
	f.Title = wording.Say("machine.title-omp")
	f.Fix.Action = finding.SetThreads(int(c.Cores / ranks))
	return f, true
}

// findAffinity: the process may use only a few of the machine's cores. Ranks that are bound to their share of them lack none.
func findAffinity(c *facts.Facts) (finding.Draft, bool) {
	e := &c.S.Environment
	have, share := len(e.Affinity), e.CPUs/facts.LocalRanks(c)
	if have == 0 || have*2 > share || c.OnlyLaunches() {
		return finding.Draft{}, false
	}
	f := fewThreads(c, "affinity", float64(have), float64(share))
	f.Title = wording.Say("machine.title-affinity", wording.Count("have", have), wording.Count("cores", e.CPUs))
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-affinity")}
	if n, err := strconv.Atoi(strings.TrimSpace(e.Threads["OMP_NUM_THREADS"])); err == nil && n <= have {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("machine.fix-affinity-omp", wording.Count("n", n)))
	}
	return f, true
}

// fewThreads prices operators on more threads: by what kinds of operators there are, within wide bounds.
func fewThreads(c *facts.Facts, sub string, have, could float64) finding.Draft {
	ops := c.PerStep(c.B.Part(account.PartOps))
	gain := threadGain(c).Scale(1 - have/could)
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: sub, Where: finding.Nowhere(),
		Share: c.Share(c.B.Part(account.PartOps)), Guess: true}, nil)
	f.Step = gain.Scale(ops)
	f.Run = overOperators(c, f.Step, gain)
	f.Evidence = []wording.Text{wording.Say("machine.operators", wording.Time("t", ops), c.Said(), wording.Value("have", have),
		wording.Value("could", could))}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-cores")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-cores"), wording.Say("machine.caveat-measure")}
	f.Confidence = finding.Confidence{Level: finding.Low, Why: []wording.Text{wording.Say("machine.basis-cores")}}
	return f
}

// threadGain is the share of the ideal gain from more threads that the operators can have: none of small ones.
func threadGain(c *facts.Facts) finding.Range {
	dense, small := price.DenseUnknown.Mid, price.SmallUnknown.Mid
	if o := c.B.Ops; o != nil && o.Time > 0 {
		all := 0.0
		dense = 0
		for _, k := range o.Kinds {
			all += k.Time
			if k.Kind == naming.OpMatmul || k.Kind == naming.OpConv || k.Kind == naming.OpAttention {
				dense += k.Time
			}
		}
		small = min(o.SmallTime/o.Time, 1)
		dense = min(dense/max(all, 1), 1-small)
	}
	mid := price.DenseThreads.Mid*dense + price.OtherThreads.Mid*(1-dense-small)
	return finding.Bounds(price.MoreThreads.Bounds().Low*mid, mid, 1-small)
}
