package cause

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// torchThreads is the number of intra-op threads that the program uses; the number of usable cores where that is unknown.
func torchThreads(c *Context) float64 {
	for _, key := range []string{"torch.get_num_threads", "torch.num_threads", "num_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"} {
		if n, err := strconv.ParseFloat(strings.TrimSpace(c.S.Environment.Threads[key]), 64); err == nil && n >= 1 {
			return n
		}
	}
	return max(c.Cores, 1)
}

// localRanks is the number of training processes on the accounted process's host.
func localRanks(c *Context) int {
	n := 0
	for _, p := range c.S.Processes {
		if p.Host == c.P.Host && (p == c.P || p.Role == model.RoleRank) {
			n++
		}
	}
	return max(n, 1)
}

// findThreads names more intra-op threads than cores.
func findThreads(c *Context) []Finding {
	if c.Cores <= 0 {
		return nil
	}
	ranks := float64(localRanks(c))
	threads := torchThreads(c)
	factor := threads * ranks / c.Cores
	if factor < 1.9 {
		return nil
	}
	busy := c.B.Part(analyse.PartOps)
	if c.share(busy) < Floor {
		return nil // nothing computes: a program that hangs has no threads to spare
	}
	cost := Range{0, 0.25 * min((factor-1)/2, 1), 0.7}
	if ranks > 1 && threads > 1 && threads <= c.Cores {
		// Each process takes the cores for its own: its threads go on spinning at the end of each parallel region while another's wait
		// for a core, and so do those of a collective.
		busy += c.B.Part(analyse.PartComm)
		cost = Range{0.15, 0.45, 0.8}
	}
	f := Finding{Cause: Threads, Where: nowhere(), Share: c.share(busy)}
	f.Step = cost.scale(c.perStep(busy))
	f.Run = c.overRun(f.Step)
	f.Title = "more threads compute than there are cores to run them"
	where := "one process"
	if ranks > 1 {
		where = fmt.Sprintf("each of %.0f processes", ranks)
	}
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%.0f threads in %s on %.3g cores", threads, where, c.Cores), Value: factor}}
	f.Fix.Text = "Give each process its share of the cores."
	f.Fix.Change = fmt.Sprintf("OMP_NUM_THREADS=%d", int(max(c.Cores/ranks, 1)))
	f.Caveat = "The saving is a range from experience, not from a measurement of this program: try it."
	f.Confidence = Confidence{Low, "thread count against cores; not measured with another count"}
	return []Finding{f}
}

// findMachine names what the machine withholds.
func findMachine(c *Context) []Finding {
	var out []Finding
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
func findQuota(c *Context) (Finding, bool) {
	e := &c.S.Environment
	if e.ThrottledSeconds == nil || e.CPUQuota == nil || *e.ThrottledSeconds <= 0 || c.Wall <= 0 {
		return Finding{}, false
	}
	// The kernel counts the throttled time of every core's queue; the program stands still for at most that, and for at most the run.
	throttled := min(*e.ThrottledSeconds*1e9, c.Wall)
	spread := max(min(torchThreads(c), float64(max(e.CPUs, 1))), 1)
	f := Finding{Cause: Machine, Sub: "cpu-quota", Where: nowhere(), OfRun: true, Share: throttled / c.Wall}
	f.Run = Range{throttled / spread * 0.3, throttled / spread * 0.8, throttled}
	f.Step = f.Run.scale(1 / float64(max(c.Steps, 1)))
	f.Title = fmt.Sprintf("the container's quota of %.3g cores stopped the program", *e.CPUQuota)
	f.Evidence = []Evidence{{Text: fmt.Sprintf("the kernel held its threads back for %s of a run of %s", ms(throttled), ms(c.Wall)), Value: throttled / 1e9, Unit: "s"}}
	f.Fix.Text = "Ask for more CPU: all threads stop when the quota is used up."
	if threads, grants := torchThreads(c), math.Max(math.Floor(*e.CPUQuota), 1); threads > grants {
		f.Fix.Text = fmt.Sprintf("Ask for more CPU, or use no more threads than the quota grants: all threads stop when it is used up (%.0f threads now).", threads)
		f.Fix.Change = fmt.Sprintf("OMP_NUM_THREADS=%.0f", grants)
	}
	f.Caveat = "The counter is the cgroup's: other processes in the container count too."
	f.Confidence = Confidence{Medium, "the cgroup's throttling counter before and after the run"}
	return f, true
}

// findOMPDefault: torchrun sets one thread per rank although there are more cores.
func findOMPDefault(c *Context) (Finding, bool) {
	ranks := float64(localRanks(c))
	if strings.TrimSpace(c.S.Environment.Threads["OMP_NUM_THREADS"]) != "1" || c.P.WorldSize < 2 || c.Cores < 2*ranks {
		return Finding{}, false
	}
	f := c.fewThreads("omp-default", 1, c.Cores/ranks)
	f.Title = "the launcher gives each rank one thread"
	f.Fix.Change = fmt.Sprintf("OMP_NUM_THREADS=%d torchrun ...", int(c.Cores/ranks))
	return f, true
}

// findAffinity: the process may use only a few of the machine's cores.
func findAffinity(c *Context) (Finding, bool) {
	e := &c.S.Environment
	if len(e.Affinity) == 0 || e.CPUs == 0 || len(e.Affinity)*2 > e.CPUs {
		return Finding{}, false
	}
	f := c.fewThreads("affinity", float64(len(e.Affinity)), float64(e.CPUs))
	f.Title = fmt.Sprintf("the program is bound to %d of the machine's %d cores", len(e.Affinity), e.CPUs)
	f.Fix.Text = "Ask the scheduler or the launcher for more cores (taskset, --cpus-per-task, the container's cpuset)."
	return f, true
}

// fewThreads prices operators on more threads: a fifth of operator time is taken as serial (Amdahl), within wide bounds.
func (c *Context) fewThreads(sub string, have, could float64) Finding {
	ops := c.perStep(c.B.Part(analyse.PartOps))
	gain := 0.8 * (1 - have/could)
	f := Finding{Cause: Machine, Sub: sub, Where: nowhere(), Share: c.share(c.B.Part(analyse.PartOps))}
	f.Step = Range{0.2 * gain * ops, 0.6 * gain * ops, gain * ops}
	f.Run = c.overRun(f.Step)
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%s per %s in CPU operators on %.0f of %.0f cores", ms(ops), c.Unit(), have, could), Value: ops / 1e6, Unit: "ms"}}
	f.Fix.Text = "Let the operators use the cores that are free."
	f.Caveat = "Small operators gain little from threads; the saving is a range, not a measurement."
	f.Confidence = Confidence{Low, "priced by the number of cores; not measured with another count"}
	return f
}
