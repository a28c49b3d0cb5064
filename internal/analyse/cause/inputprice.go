package cause

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
)

// madeFast is the share of a line's time that ends when it works on whole arrays instead of single elements, as the zoo's cured twins do: a few
// per cent of it are left.
const madeFast = 0.96

// quicker is the share of a fetch that ends when its hot line is made fast, with what that line's function made and let go.
func (v *inputView) quicker() float64 { return madeFast * (v.hotPart + v.freed()) }

// saving in ns per step.
func (v *inputView) saving(c *Context, sub string) Range {
	wait := c.perStep(v.wait)
	gain := v.quicker()
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
	if v.workers == 0 || v.own {
		return Range{0.8 * gain * wait, gain * wait, wait}
	}
	rest := max(c.B.Mean()-wait, 0)
	pace := v.pace() * v.perStep(c)
	after := pace * (1 - gain) / float64(v.workers)
	relief := c.relief(v, gain)
	left := max(after-(rest-relief), 0)
	// Only as much of the wait as the workers' throughput explains ends with faster fetching; the rest is starting them, handing
	// over and chance.
	explained := min(wait, max(pace/float64(v.workers)-rest, 0))
	sure := max(explained-left, 0)
	return Range{0.85 * sure, sure + 0.25*(wait-explained) + relief, wait + relief}
}

// handoverCost is what handing over one batch of a few large tensors takes in ns, a message through a queue and the mapping of its
// memory: no fix saves that.
const handoverCost = 1_000_000

// lighterHandover prices batches that are handed over as a few large tensors, in ns per step: what remains is a message, which takes
// longer where other programs hold the cores, and what the fetch itself makes the step wait.
func (v *inputView) lighterHandover(c *Context) Range {
	lost := c.perStep(v.wait + v.release.time)
	others := max(v.pace()*v.perStep(c)/float64(max(v.workers, 1))-max(c.B.Mean()-lost, 0), 0)
	mid := max(lost-others-handoverCost*v.perStep(c)/max(c.ownCPU(), 0.25), 0)
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
	after := max(rest, v.fetch*v.perStep(c)/n)
	low := 0.6
	if c.Cores > 0 {
		after = max(after, v.busy(c)/c.Cores)
		if n*(1-v.blocked)+1 > c.Cores {
			low = 0.3 // the step competes with its workers, and whatever else wants a core takes it from one of them
		}
	}
	cost := v.firstWorkers(c)
	mid := min(max(step-c.slower(v.busy(c), step, after)*after-cost, 0), wait)
	return Range{low * mid, mid, max(min(step-after, wait), mid)}
}

// perStep is the number of batches that a step takes, 1 where no wait was measured: several where gradients are accumulated or the whole run
// is the unit, less than one where a batch serves several steps.
func (v *inputView) perStep(c *Context) float64 {
	n := 0
	for _, w := range v.waits {
		i, _ := slices.BinarySearchFunc(c.B.Windows, w.Start+1, func(s analyse.Interval, t model.Time) int { return cmp.Compare(s.End, t) })
		n += btoi(i < len(c.B.Windows) && c.B.Windows[i].Start < w.End)
	}
	if n == 0 || len(c.B.Windows) == 0 {
		return 1
	}
	return float64(n) / float64(len(c.B.Windows))
}

// busy is what the step and its fetch compute, in ns of cores per step.
func (v *inputView) busy(c *Context) float64 {
	return max(c.B.Mean()-c.perStep(v.wait), 0) + v.fetch*v.perStep(c)*(1-v.blocked)
}

// fullCores is the speed of a core when all of them are busy, as a share of its speed among idle ones: cores share their caches, memory and
// clock, and those of virtual machines are often the halves of one. Fitted to what second workers on two cores really saved, 0.5 to 0.7 of what
// whole cores would.
const fullCores = 0.78

// slower is how many times as long work takes that does so many ns of computing in a step of after instead of before: cores slow each other
// down from half of them busy on.
func (c *Context) slower(busy, before, after float64) float64 {
	if c.Cores <= 1 || before <= 0 || after <= 0 {
		return 1
	}
	factor := func(step float64) float64 { return 1 + (1/fullCores-1)*max(2*min(busy/(step*c.Cores), 1)-1, 0) }
	return max(factor(after)/factor(before), 1)
}

// What a program pays for its first workers, measured as CPU time of all processes: to start a process that holds PyTorch, and to end it,
// takes about startWorker ns each, and a batch that crosses from process to process is copied, serialised and mapped for about crossing of
// what it takes to fetch.
const (
	startWorker = 60_000_000
	crossing    = 0.1
)

// firstWorkers is that cost in ns per step of a program that had none.
func (v *inputView) firstWorkers(c *Context) float64 {
	if v.workers > 0 {
		return 0
	}
	n := float64(v.suggestWorkers(c))
	return (n*startWorker/float64(max(c.Steps, 1)) + crossing*v.fetch*v.perStep(c)*(1-v.blocked)) / max(min(n, c.Cores), 1)
}

// relief is what the step's own work gains per step when workers no longer compete with it for cores, by the replay's rule of sharing them. The
// driving thread wants a core while it computes, not while it waits for data: where it counted as one that always computes, a fifth of the
// relief was all that the zoo's programs showed.
func (c *Context) relief(v *inputView, gain float64) float64 {
	mean, ops, python := c.B.Mean(), c.perStep(c.B.Part(analyse.PartOps)), c.perStep(c.B.Part(analyse.PartPython))
	if c.Cores <= 0 || ops+python == 0 || mean == 0 {
		return 0
	}
	step := (min(torchThreads(c), max(c.Cores, 1))*ops + python) / mean
	beside := min(v.fetch*v.perStep(c)/mean, float64(v.workers)) * (1 - v.blocked)
	return (ops + python) * (1 - replay.StepSpeed(c.Cores, step, beside)/replay.StepSpeed(c.Cores, step, beside*(1-gain)))
}

// suggestWorkers is the number of workers that would fetch as fast as the step goes on, and not more than the cores can run: of those that
// sleep for most of the fetch only the rest needs one. The trainer shares a core with them where that is what keeps up.
func (v *inputView) suggestWorkers(c *Context) int {
	rest := max(c.B.Mean()-c.perStep(v.wait), 0.02*c.B.Mean(), 1)
	need := math.Ceil(v.fetch * v.perStep(c) / rest)
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
