package input

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// quicker is the share of a fetch that ends when its hot line is made fast, with what that line's function made and let go.
func (v *inputView) quicker() float64 { return price.MadeFast.Mid * (v.hotPart + v.freed()) }

// saving in ns per step, and the row on which it rests.
func (v *inputView) saving(c *facts.Facts, sub string) (finding.Range, price.Row) {
	wait := c.PerStep(v.wait)
	gain, row := v.quicker(), price.MadeFast
	if v.startsAgain() {
		first := c.PerStep(v.first + v.restart*v.steps)
		row := price.Restart.Bounds()
		return finding.Bounds(row.Low*first, row.Mid*first, c.PerStep(v.wait+v.restart*v.steps)), price.Restart
	}
	switch sub {
	case "workers":
		return v.moreWorkers(c), price.FullCores
	case "handover":
		return v.lighterHandover(c), price.LighterHandover
	case "copies":
		return v.copiedAtOnce(c), price.CopiedAround
	case "storage":
		gain, row = v.stored(c), price.Cached
		if v.locked(c) {
			gain = v.unlocked()
		}
	}
	switch {
	case v.unpacks():
		row, gain = price.Unpacked, price.Unpacked.Mid*v.unpacked
	case v.makesAnew():
		row, gain = price.MadeAnew, price.MadeAnew.Mid*v.anewPart
	case v.shrinks():
		row, gain = price.SmallPicture, v.smaller().Mid
	case v.library, v.alike:
		row = v.prepared()
		gain = row.Mid * v.sampled()
	case v.hotPart == 0:
		gain, row = price.FetchUnknown.Mid, price.FetchUnknown
	}
	if v.workers == 0 || v.own {
		low := price.FetchAlone.Bounds().Low * gain
		switch {
		case v.unpacks():
			low = row.Bounds().Low
		case v.makesAnew():
			return row.Times(v.anewPart * wait), row
		case v.shrinks():
			return v.smaller().Scale(wait), row
		case v.library, v.alike:
			low = row.Bounds().Low * v.sampled()
		}
		return finding.Bounds(low*wait, gain*wait, wait), row
	}
	rest := max(c.B.Mean()-wait, 0)
	pace := v.pace() * v.perStep(c)
	after := pace * (1 - gain) / float64(v.workers)
	relief := relief(c, v, gain)
	left := max(after-(rest-relief), 0)
	// Only as much of the wait as the workers' throughput explains ends with faster fetching; the rest is starting them, handing
	// over and chance.
	explained := min(wait, max(pace/float64(v.workers)-rest, 0))
	sure := max(explained-left, 0)
	low := price.FetchByWorkers.Bounds().Low * sure
	return finding.Bounds(low, sure+price.FetchByChance.Mid*(wait-explained)+relief, wait+relief), row
}

// rounds is how often the run went through the data of the place; 0 where that is not known.
func (v *inputView) rounds() float64 {
	if v.loader == nil || v.loader.Length <= 0 || v.loader.Iterable {
		return 0
	}
	return float64(v.seen) / float64(v.loader.Length)
}

// prepared is the price of samples that libraries prepare one by one: prepared once, before the loop, where the run goes through them
// several times, else a batch at once.
func (v *inputView) prepared() price.Row {
	if v.rounds() >= 2 {
		return price.Prepared
	}
	return price.PreparedAtOnce
}

// sampled is the share of the fetch that samples which are prepared, or a batch of them at once, make shorter: all but what puts samples
// together that torch's own loader cannot.
func (v *inputView) sampled() float64 { return 1 - v.collated }

// onceBeatsWorkers says that samples which are prepared alike each time, by libraries or by native code that the program calls, and which
// the run goes through often enough, are better prepared once, before the loop, than fetched by processes: by both prices.
func (v *inputView) onceBeatsWorkers(c *facts.Facts) bool {
	if v.workers > 0 || v.fetch <= 0 || v.hotOK && v.hotPart >= price.HotFetch && !v.alike || v.rounds() < price.OnceRounds || v.random() {
		return false
	}
	return price.Prepared.Mid*v.sampled()*c.PerStep(v.wait)-v.preparing(c) > v.moreWorkers(c).Mid
}

// preparesAlike says that native code which the program's own lines call takes most of the fetch, and that none of these functions draws
// random numbers, as their text tells: what they make of a sample is the same in each epoch.
func (v *inputView) preparesAlike(c *facts.Facts) bool {
	if !v.hotOK || v.native < price.NativeFetch || v.rounds() < 2 || v.random() {
		return false
	}
	var read pysource.Reader
	known := map[facts.FuncKey]bool{}
	for _, ch := range slices.Concat(v.awake, v.asleep) {
		for i := range ch.Frames {
			f := &ch.Frames[i]
			key := facts.KeyOf(f)
			if known[key] {
				continue
			}
			known[key] = true
			source := c.S.Sources[v.cls.Strings.Text(f.File)]
			if source == nil || read.Draws(source.Lines, f.Line) {
				return false
			}
		}
	}
	return true
}

// samplerFile is where a DataLoader chooses samples, at random or not.
const samplerFile = "/torch/utils/data/sampler.py"

// random says that functions with such a name were seen in the fetch, besides its sampler's: what they make differs from epoch to epoch.
func (v *inputView) random() bool {
	for key := range v.leaves {
		name := strings.ToLower(v.cls.Strings.Text(key.Name))
		if strings.Contains(name, "rand") && !strings.HasSuffix(v.cls.Strings.Text(key.File), samplerFile) {
			return true
		}
	}
	return false
}

// preparing is what one round through the data takes, in ns per step of the run.
func (v *inputView) preparing(c *facts.Facts) float64 {
	return v.sampled() * v.fetch * float64(v.loader.Length) / float64(max(c.Steps, 1))
}

// once is what preparing all samples before the loop takes, in ns per step; 0 where the fix is another.
func (v *inputView) once(c *facts.Facts, sub string) float64 {
	if sub != "transform" || v.unpacks() || v.makesAnew() || v.shrinks() || !v.library && !v.alike || v.rounds() < 2 {
		return 0
	}
	return v.preparing(c)
}

// lighterHandover prices batches that are handed over as a few large tensors, in ns per step: what remains is a message, which takes
// longer where other programs hold the cores, and what the fetch itself makes the step wait. Without workers the fetch remains.
func (v *inputView) lighterHandover(c *facts.Facts) finding.Range {
	lost := c.PerStep(v.wait + v.release.time)
	if v.alone() {
		return v.withoutWorkers(c)
	}
	others := max(v.pace()*v.perStep(c)/float64(max(v.workers, 1))-max(c.B.Mean()-lost, 0), 0)
	mid := max(lost-others-price.Handover.Mid*v.perStep(c)/max(c.OwnCPU(), price.SlowestHand), 0)
	return finding.Bounds(price.LighterHandover.Bounds().Low*mid, mid, max(mid, lost))
}

// releaseTime is the driving thread's time in letting go of the batch before: the loop's own line holds it, outside of the wait.
type releaseTime struct {
	time  float64 // ns over the windows
	parts map[account.PartID]float64
}

// releasing finds it by samples: those of the interpreter and of its collector whose innermost line of the program is the `for` that
// waits for batches.
func (v *inputView) releasing(c *facts.Facts) releaseTime {
	r := releaseTime{parts: map[account.PartID]float64{}}
	waits := facts.LineTimes(facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartDataWait
	}))
	if len(waits) == 0 || !forLine.MatchString(c.Where(waits[0]).Source) {
		return r
	}
	for _, part := range []account.PartID{account.PartPython, account.PartGC} {
		for _, sp := range facts.LineTimes(facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
			return a.Part == part
		})) {
			if facts.KeyOf(&sp.Frame) == facts.KeyOf(&waits[0].Frame) && sp.Frame.Line == waits[0].Frame.Line {
				r.parts[part] += sp.Unit
				r.time += sp.Unit
			}
		}
	}
	return r
}

// forLine matches the head of a loop that stands alone on its line.
var forLine = regexp.MustCompile(`^\s*(async\s+)?for\b.*:\s*(#.*)?$`)

// moreWorkers prices as many workers as would keep up with the step, in ns per step: a step then lasts as long as its own
// work, the workers' share of fetching, or all that has to be computed spread over the cores, whichever is longest.
func (v *inputView) moreWorkers(c *facts.Facts) finding.Range {
	wait, step := c.PerStep(v.wait), c.B.Mean()
	r, n := v.room(c), float64(v.suggestWorkers(c))
	after := r.step(n)
	low := price.MoreWorkers.Bounds().Low
	if r.cores > 0 && n*r.awake+r.threads > r.cores {
		// the step competes with its workers, and whatever else wants a core takes it from one of them
		low = price.MoreWorkersThanCores.Bounds().Low
	}
	cost := v.firstWorkers(c)
	mid := min(max(step-slower(r.cores, v.busy(c), step, after)*after-cost, 0), wait)
	return finding.Bounds(low*mid, mid, max(min(step-after, wait), mid))
}

// perStep is the number of batches that a step takes, 1 where no wait was measured: several where gradients are accumulated or the whole
// run is the unit, less than one where a batch serves several steps.
func (v *inputView) perStep(c *facts.Facts) float64 {
	n := 0
	for _, w := range v.waits {
		i, _ := slices.BinarySearchFunc(c.B.Windows, w.Start+1, func(s times.Interval, t model.Time) int { return cmp.Compare(s.End, t) })
		n += finding.Btoi(i < len(c.B.Windows) && c.B.Windows[i].Start < w.End)
	}
	if n == 0 || len(c.B.Windows) == 0 {
		return 1
	}
	return float64(n) / float64(len(c.B.Windows))
}

// busy is what the step and its fetch compute, in ns of cores per step.
func (v *inputView) busy(c *facts.Facts) float64 {
	r := v.room(c)
	return r.alone + r.shared*r.threads + r.fetch*r.awake
}

// slower is how many times as long work takes that does so many ns of computing in a step of after instead of before: cores slow each other
// down from half of them busy on: they share their caches, memory and clock, and those of virtual machines are often the halves of one.
func slower(cores, busy, before, after float64) float64 {
	if cores <= 1 || before <= 0 || after <= 0 {
		return 1
	}
	factor := func(step float64) float64 {
		return 1 + (1/price.FullCores.Mid-1)*max(2*min(busy/(step*cores), 1)-1, 0)
	}
	return max(factor(after)/factor(before), 1)
}

// firstWorkers is what a program that had none pays for its first workers, in ns per step: processes that hold PyTorch start and end, and a
// batch that crosses from process to process is copied, serialised and mapped.
func (v *inputView) firstWorkers(c *facts.Facts) float64 {
	if v.workers > 0 {
		return 0
	}
	n := float64(v.suggestWorkers(c))
	start := n * price.StartWorker.Mid
	if !forksWorkers(c) {
		start += c.ImportTime(c.FirstStep()) // the process that they are copies of imports what the script does
	}
	return (start/float64(max(c.Steps, 1)) + price.Crossing.Mid*v.fetch*v.perStep(c)*(1-v.blocked)) / max(min(n, c.OwnCores()), 1)
}

// relief is what the step's own work gains per step when workers no longer compete with it for cores, by the replay's rule of sharing them.
// The driving thread wants a core while it computes, not while it waits for data: where it counted as one that always computes, a fifth of
// the relief was all that the zoo's programs showed.
func relief(c *facts.Facts, v *inputView, gain float64) float64 {
	mean, ops, python := c.B.Mean(), c.PerStep(c.B.Part(account.PartOps)), c.PerStep(c.B.Part(account.PartPython))
	cores := c.OwnCores()
	if cores <= 0 || ops+python == 0 || mean == 0 {
		return 0
	}
	step := (min(facts.TorchThreads(c), max(cores, 1))*ops + python) / mean
	beside := min(v.fetch*v.perStep(c)/mean, float64(v.workers)) * (1 - v.blocked)
	return (ops + python) * (1 - replay.StepSpeed(cores, step, beside)/replay.StepSpeed(cores, step, beside*(1-gain)))
}
