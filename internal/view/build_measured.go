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
	case f.Cause == cause.Precision:
		return func(fix string) bool { return fix == "bf16" }
	case f.Cause == cause.Layout:
		return func(fix string) bool { return fix == "channels-last" }
	}
	return nil
}

// measured puts measured prices into the document, and into the findings that they price: the best of the fixes, over all operators
// as over those that were run again; the lower bound is what those alone save.
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
	ops := a.Part(analyse.PartOps) / float64(len(a.Windows)) / 1e6
	steps := 0.0
	if b.res.ctx != nil {
		steps = float64(b.res.ctx.Steps)
	}
	priced := false
	for i := range b.r.Findings {
		f := &b.r.Findings[i]
		fits := measuredFor(f)
		if fits == nil {
			continue
		}
		for _, p := range m.Prices { // most first
			if !fits(p.Fix) || p.SavedMs <= 0 || p.OfMs <= 0 {
				continue
			}
			all := max(p.SavedMs/p.OfMs*ops, p.SavedMs)
			if !strings.HasPrefix(p.Fix, "threads=") { // only the operators that it can change
				all = p.SavedMs
			}
			step := Range{p.SavedMs, all, all * 1.1}
			f.Saving = &Saving{StepMs: &step, RunS: &Range{step.Low * steps / 1e3, step.Mid * steps / 1e3, step.High * steps / 1e3}}
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("measured: %d recorded operators run again with %s take %s less", p.Ops, p.Fix, Percent(p.SavedMs/p.OfMs)), Value: ptr(p.SavedMs), Unit: "ms"})
			f.Caveat = "Measured on each operator alone: what runs beside it in the program can take some of the gain."
			if n, ok := strings.CutPrefix(p.Fix, "threads="); ok && b.res.ctx != nil && b.res.ctx.P.WorldSize < 2 {
				f.Fix.Change = threadCount.ReplaceAllString(f.Fix.Change, "${1}"+n)
			}
			priced = true
			f.Confidence = &Confidence{measuredLevel(p.OfMs, ops), fmt.Sprintf("measured after the program's end on %d operators, %s of %s per step", p.Ops, Milliseconds(p.OfMs), Milliseconds(ops))}
			break
		}
	}
	if priced {
		b.verdict() // its sentence holds the first finding's price
	}
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
