package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause"
)

// measuredFor says which measured fix prices a cause that no replay can price.
func measuredFor(f *cause.Finding) func(fix string) bool {
	switch {
	case f.Cause == cause.Threads, f.Cause == cause.Machine && f.Sub == "omp-default":
		return func(fix string) bool { return strings.HasPrefix(fix, "threads=") }
	case f.Cause == cause.Machine && f.Sub == "affinity":
		return func(fix string) bool { return strings.HasPrefix(fix, "cores=") }
	}
	return nil
}

// measured puts measured prices into the document.
func (b *builder) measured() { b.r.Measured = b.opt.Measured }

// measuredPrices puts measured prices into the findings that they price: the best of the fixes. Where even that saves less than what a
// report names, the finding was wrong.
func (b *builder) measuredPrices() {
	m, a := b.opt.Measured, b.res.account
	if m == nil || !a.PerStep || a.Mean() <= 0 {
		return
	}
	defer b.res.found.Remeasured(b.res.ctx)
	ops := a.Part(analyse.PartOps) / float64(len(a.Windows)) / 1e6
	for i := range b.res.found.Findings {
		f := &b.res.found.Findings[i]
		fits := measuredFor(f)
		if fits == nil || ops <= 0 {
			continue
		}
		for _, p := range m.Prices { // most first
			if !fits(p.Fix) || p.OfMs <= 0 {
				continue
			}
			if gain := min(p.SavedMs/p.OfMs, 1) * ops / (a.Mean() / 1e6); gain >= cause.Floor {
				b.price(f, p, ops)
			} else {
				b.res.found.Largest = max(b.res.found.Largest, gain)
				b.refute(f, p, ops)
			}
			break
		}
	}
}

// price sets a finding's saving from a measured fix; ops is the operators' time per step in ms.
func (b *builder) price(f *cause.Finding, p MeasuredPrice, ops float64) {
	step, outside := b.measuredStep(p, ops)
	run := func(ns float64) float64 {
		return min(ns*float64(b.res.ctx.Steps)+ns/(ops*1e6)*outside, max(b.res.ctx.Wall, ns))
	}
	f.Measured(step, cause.Range{Low: run(step.Low), Mid: run(step.Mid), High: run(step.High)})
	text := fmt.Sprintf("measured: %s run again with %s take %s less", recordedOperators(p.Ops), p.Fix, Percent(p.SavedMs/p.OfMs))
	f.Evidence = append(f.Evidence, cause.Evidence{Text: text, Value: p.SavedMs, Unit: "ms"})
	f.Caveat = "Measured on each operator alone: what runs beside it in the program can take some of the gain."
	if n, ok := strings.CutPrefix(p.Fix, "threads="); ok && b.res.ctx.P.WorldSize < 2 {
		if _, err := strconv.ParseUint(n, 10, 16); err == nil {
			f.Fix.Change = threadCount.ReplaceAllString(f.Fix.Change, "${1}"+n)
		}
	}
	f.Confidence = b.measuredConfidence(p, ops)
}

// refute takes its price from a finding whose best fix was measured to bring nothing. Where the smaller part of the operators' time was
// run again as it was, the rest can gain all the same, such as what took longer in the program than alone: that is left, down to nothing.
func (b *builder) refute(f *cause.Finding, p MeasuredPrice, ops float64) {
	take := "as long"
	if share := p.SavedMs / p.OfMs; share < -0.005 {
		take = Percent(-share) + " longer"
	} else if share > 0.005 {
		take = "only " + Percent(share) + " less"
	}
	text := fmt.Sprintf("measured: no gain: %s run again with %s take %s", recordedOperators(p.Ops), p.Fix, take)
	f.Evidence = append(f.Evidence, cause.Evidence{Text: text, Value: p.SavedMs, Unit: "ms"})
	f.Confidence = b.measuredConfidence(p, ops)
	if f.Confidence.Level != cause.High {
		f.Confidence.Level = cause.Low
		f.Rest(1 - min(p.OfMs/ops, 1))
		f.Caveat = "What was run again gains nothing; the saving is a range from experience for the other operators."
		return
	}
	f.Refuted()
	f.Title += " (measured: no gain)"
	f.Fix = cause.Fix{Text: "None: another number of threads or cores makes the operators no faster."}
	f.Caveat = "Measured on each operator alone, after the program's end."
}

func recordedOperators(n int) string { return counted(n, "recorded operator") }

// measuredConfidence says how far a measured price can be trusted: operators with several threads take another time where other
// programs take cores from them.
func (b *builder) measuredConfidence(p MeasuredPrice, ops float64) cause.Confidence {
	c := cause.Confidence{Level: measuredLevel(p.OfMs, ops)}
	c.Why = fmt.Sprintf("measured after the program's end on %s, %s of %s per step", counted(p.Ops, "operator"), Milliseconds(p.OfMs), Milliseconds(ops))
	if busy := b.s.Environment.OthersBusyCores; busy != nil && *busy >= crowdedCores {
		c.Level = cause.Low
		c.Why += fmt.Sprintf(", on a machine of which other programs took %.1f cores", *busy)
	}
	return c
}

// crowdedCores is from how many cores that other programs keep busy on times of several threads say little.
const crowdedCores = 0.5

// measuredStep is what a fix saves in ns per step, and the operators' time outside of the accounted steps of which it saves the same
// share. Another number of threads or cores changes all operators but the small ones: the middle is of all, the lower bound of
// those alone that were run again. Threads that wait for each other take another time in each run, and so did the operators
// when they were run again: the upper bound is as far away. Operators that were recorded while shapes were traced can have taken longer
// than they do in other steps.
func (b *builder) measuredStep(p MeasuredPrice, ops float64) (step cause.Range, outside float64) {
	if o := b.res.account.Ops; o != nil && o.Time > 0 && strings.HasPrefix(p.Fix, "cores=") {
		ops *= 1 - min(o.SmallTime/o.Time, 1)
	}
	share := min(p.SavedMs/p.OfMs, 1)
	again := share * min(p.OfMs, ops) // of what was run again
	varied := b.opt.Measured.repeatedByRecorded()
	most := max(b.res.account.Mean()/1e6, share*ops)
	return cause.Range{Low: 1e6 * again * min(varied, 1), Mid: 1e6 * share * ops, High: 1e6 * min(share*ops*max(varied, 1.1), most)}, b.res.ctx.OperatorsOutside()
}

// measuredLevel is how far a price can be trusted that was measured on some of the operators' time and stands for all of it.
func measuredLevel(of, all float64) string {
	switch {
	case of >= 0.5*all:
		return cause.High
	case of >= 0.15*all:
		return cause.Medium
	}
	return cause.Low
}

// threadCount matches a number of threads where it is set.
var threadCount = regexp.MustCompile(`(set_num_threads\(|OMP_NUM_THREADS=)\d+`)

// measured prints what was measured after the program's end.
func (p *printer) measured() {
	if p.r.Measured == nil {
		return
	}
	title, rest, _ := strings.Cut(MeasuredText(p.r.Measured), "\n")
	heading, aside, _ := strings.Cut(title, "  ")
	p.heading(heading, aside)
	for line := range strings.Lines(rest) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
}
