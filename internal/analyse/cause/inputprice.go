package cause

import (
	"math"
	"regexp"

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
		return v.lighterHandover(c)
	case "storage":
		gain = v.stored(c)
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
	after := v.pace() * (1 - gain) / float64(v.workers)
	relief := c.relief(v, gain)
	left := max(after-(rest-relief), 0)
	// Only as much of the wait as the workers' throughput explains ends with faster fetching; the rest is starting them, handing
	// over and chance.
	explained := min(wait, max(v.pace()/float64(v.workers)-rest, 0))
	sure := max(explained-left, 0)
	return Range{0.85 * sure, sure + 0.25*(wait-explained) + relief/3, wait + relief}
}

// handoverCost is what handing over one batch of a few large tensors takes in ns, a message through a queue and the mapping of its
// memory: no fix saves that.
const handoverCost = 1_000_000

// lighterHandover prices batches that are handed over as a few large tensors, in ns per step: what remains is a message, which takes
// longer where other programs hold the cores, and what the fetch itself makes the step wait.
func (v *inputView) lighterHandover(c *Context) Range {
	lost := c.perStep(v.wait + v.release.time)
	others := max(v.pace()/float64(max(v.workers, 1))-max(c.B.Mean()-lost, 0), 0)
	mid := max(lost-others-handoverCost/max(c.ownCPU(), 0.25), 0)
	return Range{0.6 * mid, mid, max(mid, lost)}
}

// releaseTime is the driving thread's time in letting go of the batch before: the loop's own line holds it, outside of the wait.
type releaseTime struct {
	time  float64 // ns over the windows
	parts map[analyse.PartID]float64
}

// releasing finds it by samples: those of the interpreter and of its collector whose innermost line of the program is the `for` that
// waits for batches.
func (v *inputView) releasing(c *Context) releaseTime {
	r := releaseTime{parts: map[analyse.PartID]float64{}}
	waits := lineTimes(chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartDataWait }))
	if len(waits) == 0 || !forLine.MatchString(c.where(waits[0]).Source) {
		return r
	}
	for _, part := range []analyse.PartID{analyse.PartPython, analyse.PartGC} {
		for _, sp := range lineTimes(chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == part })) {
			if keyOf(&sp.frame) == keyOf(&waits[0].frame) && sp.frame.Line == waits[0].frame.Line {
				r.parts[part] += sp.unit
				r.time += sp.unit
			}
		}
	}
	return r
}

// forLine matches the head of a loop that stands alone on its line.
var forLine = regexp.MustCompile(`^\s*(async\s+)?for\b.*:\s*(#.*)?$`)

// moreWorkers prices as many workers as would keep up with the step, in ns per step: a step then lasts as long as its own
// work, the workers' share of fetching, or all that has to be computed spread over the cores, whichever is longest.
func (v *inputView) moreWorkers(c *Context) Range {
	wait, step := c.perStep(v.wait), c.B.Mean()
	rest := max(step-wait, 0)
	n := float64(v.suggestWorkers(c))
	after := max(rest, v.fetch/n)
	low := 0.6
	if c.Cores > 0 {
		after = max(after, (rest+v.fetch*(1-v.blocked))/c.Cores)
		if n*(1-v.blocked)+1 > c.Cores {
			low = 0.3 // the step competes with its workers, and whatever else wants a core takes it from one of them
		}
	}
	mid := min(max(step-1.03*after-v.firstWorkers(c), 0), wait)
	return Range{low * mid, mid, max(min(1.3*mid, wait), mid)}
}

// What a program pays for its first workers: a fork of a process that holds PyTorch takes about startWorker ns each, and a batch that
// crosses from process to process is copied, serialised and mapped for about crossing of what it takes to fetch.
const (
	startWorker = 40_000_000
	crossing    = 0.1
)

// firstWorkers is that cost in ns per step of a program that had none.
func (v *inputView) firstWorkers(c *Context) float64 {
	if v.workers > 0 {
		return 0
	}
	n := float64(v.suggestWorkers(c))
	return n*startWorker/float64(max(c.Steps, 1)) + crossing*v.fetch*(1-v.blocked)/max(min(n, c.Cores), 1)
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

// suggestWorkers is the number of workers that would fetch as fast as the step goes on, and not more than the cores can run: of those that
// sleep for most of the fetch only the rest needs one. The trainer shares a core with them where that is what keeps up.
func (v *inputView) suggestWorkers(c *Context) int {
	rest := max(c.B.Mean()-c.perStep(v.wait), 0.02*c.B.Mean(), 1)
	need := math.Ceil(v.fetch / rest)
	most := 16.0
	if c.Cores > 0 {
		asleep := 0.0
		if v.blocked >= 0.5 {
			asleep = min(v.blocked, 1)
		}
		most = min(most, max(math.Floor(c.Cores/max(1-asleep, 0.01)), 1))
	}
	return int(max(min(need, most), float64(v.workers), 1))
}
