package input

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"math"
)

// room is what a step and its fetch want of the process's cores, in ns per step. Threads that compute an operator together wait for one
// another: a worker that takes the core of one of them stops all, and while they wait they spin, so that even between operators they leave
// no core. So workers have the cores that these threads do not fill, or the operators get fewer threads.
type room struct {
	cores   float64 // 0 unknown
	threads float64 // of the operators that several compute together, at most as many as there are cores
	alone   float64 // the driving thread's own work
	shared  float64 // operators that several threads compute together
	fetch   float64 // all batches of a step
	awake   float64 // share of the fetch that wants a core
}

func (v *inputView) room(c *facts.Facts) room {
	r := room{cores: c.OwnCores(), threads: 1, fetch: v.fetch * v.perStep(c), awake: 1 - v.blocked}
	rest := max(c.B.Mean()-c.PerStep(v.wait), 0)
	if r.shared = min(c.SharedOps(), rest); r.shared > 0 {
		r.threads = max(min(facts.TorchThreads(c), r.cores), 1)
	}
	r.alone = rest - r.shared
	return r
}

// left is how many threads the operators have beside so many workers. Those that sleep for most of a fetch are not in their way for long.
func (r room) left(workers float64) float64 {
	if r.cores <= 0 || r.awake <= 0.5 {
		return r.threads
	}
	return min(r.threads, max(math.Floor(r.cores-workers*r.awake), 1))
}

// step is how long a step lasts, ns, with so many workers and the threads that they leave the operators, which then take the longer the
// fewer these are.
func (r room) step(workers float64) float64 {
	after := max(r.alone+r.shared*r.threads/r.left(workers), r.fetch/workers)
	if r.cores > 0 {
		after = max(after, (r.alone+r.shared*r.threads+r.fetch*r.awake)/r.cores)
	}
	return after
}

// spares says that there are cores for another worker beside the step and the workers that there are, or that the step gains for certain
// when its operators leave one to it. Nothing spares one to a fetch that cannot run in a worker.
func (v *inputView) spares(c *facts.Facts) bool {
	r := v.room(c)
	switch {
	case v.copies.device:
		return false
	case r.cores == 0:
		return true
	case r.cores < float64(v.workers)+2:
		return false
	}
	return float64(v.workers)+r.threads+1 <= r.cores || v.moreWorkers(c).Low >= finding.Floor*c.B.Mean()
}

// suggestWorkers is the number of workers that would fetch as fast as the step goes on, and not more than the cores can run: of those that
// sleep for most of the fetch only the rest needs one. The trainer shares a core with them where that is what keeps up. Where they take
// threads from the operators, it is the number with which a step is shortest.
func (v *inputView) suggestWorkers(c *facts.Facts) int {
	r := v.room(c)
	need := math.Ceil(r.fetch / max(r.alone+r.shared, price.ShortestRest*c.B.Mean(), 1))
	most := price.MostWorkers
	if r.cores > 0 {
		asleep := 0.0
		if v.blocked >= 0.5 {
			asleep = min(v.blocked, 1)
		}
		most = min(most, max(math.Floor(r.cores/max(1-asleep, price.LeastAwake)), 1))
	}
	n := max(min(need, most), float64(v.workers), 1)
	for k := max(float64(v.workers), 1); r.left(n) < r.threads && k < n; k++ {
		if r.step(k) <= r.step(n) {
			n = k
		}
	}
	return int(n)
}
