package cause

import (
	"math"

	"bottleneck/internal/analyse"
)

// saving in ns per step.
func (v *inputView) saving(c *Context, sub string) Range {
	wait := c.perStep(v.wait)
	gain := 0.93 * v.hotPart // a line made fast keeps a few per cent of its time
	if v.startsAgain() {
		first := c.perStep(v.first + v.restart*v.steps)
		return Range{0.5 * first, 0.9 * first, c.perStep(v.wait + v.restart*v.steps)}
	}
	switch sub {
	case "workers":
		return v.moreWorkers(c)
	case "handover":
		mine := c.ownCPU() // what other programs' use of the cores delays cannot be saved
		return Range{0.3 * mine * wait, 0.7 * mine * wait, wait}
	case "storage":
		gain = min(0.97*v.blocked, 0.97)
		if v.locked(c) {
			gain = v.unlocked()
		}
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
