package cause

import (
	"math"
	"strconv"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// torchThreads is the number of intra-op threads that the program uses; the number of usable cores where that is unknown.
func torchThreads(c *Facts) float64 {
	for _, key := range []string{"torch.get_num_threads", "torch.num_threads", "num_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"} {
		if n, err := strconv.ParseFloat(strings.TrimSpace(c.S.Environment.Threads[key]), 64); err == nil && n >= 1 {
			return n
		}
	}
	return max(c.Cores, 1)
}

// localRanks is the number of training processes on the accounted process's host.
func localRanks(c *Facts) int {
	n := 0
	for _, p := range c.S.Processes {
		if p.Host == c.P.Host && (p == c.P || p.Role == model.RoleRank) {
			n++
		}
	}
	return max(n, 1)
}

// findMachine names what the machine withholds.
func findMachine(c *Facts, _ Ledger) []Draft {
	var out []Draft
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
func findQuota(c *Facts) (Draft, bool) {
	e := &c.S.Environment
	if e.ThrottledSeconds == nil || e.CPUQuota == nil || *e.ThrottledSeconds <= 0 || c.Wall <= 0 {
		return Draft{}, false
	}
	// The kernel counts the throttled time of every core's queue; the program stands still for at most that, and for at most the run.
	throttled := min(*e.ThrottledSeconds*1e9, c.Wall)
	spread := max(min(torchThreads(c), float64(max(e.CPUs, 1))), 1)
	f := draft(Finding{Cause: Machine, Sub: "cpu-quota", Where: nowhere(), OfRun: true, Share: throttled / c.Wall}, nil)
	most, likely := c.withoutQuota(*e.CPUQuota, spread)
	f.Run = f.by(price.Quota).Times(throttled / spread)
	f.Run.High = throttled
	f.Run.High = min(f.Run.High, most*c.Wall)
	f.Run.Mid = min(f.Run.Mid, likely*c.Wall, f.Run.High)
	f.Run.Low = min(f.Run.Low, f.Run.Mid)
	f.Step = f.Run.Scale(1 / float64(max(c.Steps, 1)))
	f.Title = wording.Say("machine.title-quota", wording.Value("quota", *e.CPUQuota))
	f.Evidence = []wording.Text{wording.Say("machine.throttled", wording.Time("throttled", throttled), wording.Time("run", c.Wall))}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-quota")}
	if threads, grants := torchThreads(c), math.Max(math.Floor(*e.CPUQuota), 1); threads > grants {
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-quota-threads", wording.Count("threads", threads))}
		f.Fix.Action = setThreads(int(grants))
	}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-quota")}
	f.Confidence = Confidence{Level: Medium, Why: []wording.Text{wording.Say("machine.basis-quota")}}
	return f, true
}

// withoutQuota bounds the share of the run that more CPU can save: whoever wants n cores' work and is granted q of them at a time computes
// 1/(q/n) times as long, so that 1 − q/n goes at most. likely is by the threads that compute, most by all cores that the program may use:
// code of other libraries has threads of its own. Where the threads want no more than the quota, something else in the container does, and
// only the second bound is known.
func (c *Facts) withoutQuota(quota, threads float64) (most, likely float64) {
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
	for _, w := range c.workers {
		if w.blocked < 0.5 {
			workers++
		}
	}
	wanted := threads*float64(localRanks(c)) + float64(workers)
	if cores <= 0 {
		cores = wanted
	}
	if most, likely = gone(cores), gone(min(wanted, cores)); likely <= 0 {
		likely = most
	}
	return most, likely
}

// findOMPDefault: torchrun sets one thread per rank although there are more cores.
func findOMPDefault(c *Facts) (Draft, bool) {
	ranks := float64(localRanks(c))
	if strings.TrimSpace(c.S.Environment.Threads["OMP_NUM_THREADS"]) != "1" || c.P.WorldSize < 2 || c.Cores < 2*ranks {
		return Draft{}, false
	}
	f := c.fewThreads("omp-default", 1, c.Cores/ranks)
	f.Title = wording.Say("machine.title-omp")
	f.Fix.Action = setThreads(int(c.Cores / ranks))
	return f, true
}

// findAffinity: the process may use only a few of the machine's cores. Ranks that are bound to their share of them lack none.
func findAffinity(c *Facts) (Draft, bool) {
	e := &c.S.Environment
	have, share := len(e.Affinity), e.CPUs/localRanks(c)
	if have == 0 || have*2 > share {
		return Draft{}, false
	}
	f := c.fewThreads("affinity", float64(have), float64(share))
	f.Title = wording.Say("machine.title-affinity", wording.Count("have", have), wording.Count("cores", e.CPUs))
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-affinity")}
	if n, err := strconv.Atoi(strings.TrimSpace(e.Threads["OMP_NUM_THREADS"])); err == nil && n <= have {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("machine.fix-affinity-omp", wording.Count("n", n)))
	}
	return f, true
}

// fewThreads prices operators on more threads: by what kinds of operators there are, within wide bounds.
func (c *Facts) fewThreads(sub string, have, could float64) Draft {
	ops := c.perStep(c.B.Part(analyse.PartOps))
	gain := c.threadGain().Scale(1 - have/could)
	f := draft(Finding{Cause: Machine, Sub: sub, Where: nowhere(), Share: c.share(c.B.Part(analyse.PartOps)), guess: true}, nil)
	f.Step = gain.Scale(ops)
	f.Run = c.overOperators(f.Step, gain)
	f.Evidence = []wording.Text{wording.Say("machine.operators", wording.Time("t", ops), c.unit(), wording.Value("have", have),
		wording.Value("could", could))}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-cores")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-cores"), wording.Say("machine.caveat-measure")}
	f.Confidence = Confidence{Level: Low, Why: []wording.Text{wording.Say("machine.basis-cores")}}
	return f
}

// threadGain is the share of the ideal gain from more threads that the operators can have: none of small ones.
func (c *Facts) threadGain() Range {
	dense, small := price.DenseUnknown.Mid, price.SmallUnknown.Mid
	if o := c.B.Ops; o != nil && o.Time > 0 {
		all := 0.0
		dense = 0
		for _, k := range o.Kinds {
			all += k.Time
			if k.Kind == analyse.OpMatmul || k.Kind == analyse.OpConv || k.Kind == analyse.OpAttention {
				dense += k.Time
			}
		}
		small = min(o.SmallTime/o.Time, 1)
		dense = min(dense/max(all, 1), 1-small)
	}
	mid := price.DenseThreads.Mid*dense + price.OtherThreads.Mid*(1-dense-small)
	return bounds(price.MoreThreads.Bounds().Low*mid, mid, 1-small)
}
