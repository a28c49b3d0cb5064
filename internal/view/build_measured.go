package view

import (
	"fmt"
	"regexp"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause"
)

// measuredFor says which measured fix prices a cause that no replay can price.
func measuredFor(f *Finding) func(fix string) bool {
	switch {
	case f.Cause == cause.Threads, f.Cause == cause.Machine && f.Sub == "omp-default":
		return func(fix string) bool { return strings.HasPrefix(fix, "threads=") }
	case f.Cause == cause.Machine && f.Sub == "affinity":
		return func(fix string) bool { return strings.HasPrefix(fix, "cores=") }
	case f.Cause == cause.Precision:
		return func(fix string) bool { return fix == "bf16" }
	case f.Cause == cause.Layout:
		return func(fix string) bool { return fix == "channels-last" }
	}
	return nil
}

// measured puts measured prices into the document, and into the findings that they price: the best of the fixes.
func (b *builder) measured() {
	m := b.opt.Measured
	if m == nil {
		return
	}
	b.r.Measured = m
	a := b.res.account
	if a == nil || !a.PerStep || len(a.Windows) == 0 {
		return
	}
	priced := false
	for i := range b.r.Findings {
		f := &b.r.Findings[i]
		fits := measuredFor(f)
		if fits == nil {
			continue
		}
		for _, p := range m.Prices { // most first
			if fits(p.Fix) && p.SavedMs > 0 && p.OfMs > 0 {
				b.price(f, p)
				priced = true
				break
			}
		}
	}
	if priced {
		b.verdict() // its sentence holds the first finding's price
	}
}

// price sets a finding's saving from a measured fix.
func (b *builder) price(f *Finding, p MeasuredPrice) {
	a := b.res.account
	ops := a.Part(analyse.PartOps) / float64(len(a.Windows)) / 1e6
	step, outside := b.measuredStep(p, ops)
	f.Saving = &Saving{StepMs: &step}
	if b.res.ctx != nil {
		run := func(ms float64) float64 { return (ms*float64(b.res.ctx.Steps) + ms/max(ops, p.OfMs)*outside) / 1e3 }
		f.Saving.RunS = &Range{run(step.Low), run(step.Mid), run(step.High)}
	}
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("measured: %d recorded operators run again with %s take %s less", p.Ops, p.Fix, Percent(p.SavedMs/p.OfMs)), Value: ptr(p.SavedMs), Unit: "ms"})
	f.Caveat = "Measured on each operator alone: what runs beside it in the program can take some of the gain."
	if n, ok := strings.CutPrefix(p.Fix, "threads="); ok && b.res.ctx != nil && b.res.ctx.P.WorldSize < 2 {
		f.Fix.Change = threadCount.ReplaceAllString(f.Fix.Change, "${1}"+n)
	}
	f.Confidence = &Confidence{measuredLevel(p.OfMs, ops), fmt.Sprintf("measured after the program's end on %d operators, %s of %s per step", p.Ops, Milliseconds(p.OfMs), Milliseconds(ops))}
}

// measuredStep is what a fix saves in ms per step, and the operators' time outside of the accounted steps in ms of which it saves the
// same share. Another number of threads or cores changes all operators but the small ones: the middle is of all, the lower bound of
// those alone that were run again. Threads that wait for each other take another time in each run, and so did the operators
// when they were run again: the upper bound is as far away.
func (b *builder) measuredStep(p MeasuredPrice, ops float64) (step Range, outside float64) {
	if !strings.HasPrefix(p.Fix, "threads=") && !strings.HasPrefix(p.Fix, "cores=") {
		return Range{p.SavedMs, p.SavedMs, p.SavedMs * 1.1}, 0 // only the operators that it can change
	}
	if b.res.ctx != nil {
		outside = b.res.ctx.OperatorsOutside() / 1e6
	}
	if o := b.res.account.Ops; o != nil && o.Time > 0 && strings.HasPrefix(p.Fix, "cores=") {
		ops *= 1 - min(o.SmallTime/o.Time, 1)
	}
	all := max(p.SavedMs/p.OfMs*ops, p.SavedMs)
	varied := b.opt.Measured.repeatedByRecorded()
	return Range{p.SavedMs * min(varied, 1), all, all * max(varied, 1.1)}, outside
}

// measuredLevel is how far a price can be trusted that was measured on some of the operators' time and stands for all of it.
func measuredLevel(of, all float64) string {
	switch {
	case of >= 0.5*all:
		return "high"
	case of >= 0.15*all:
		return "medium"
	}
	return "low"
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
