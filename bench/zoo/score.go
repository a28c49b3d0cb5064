package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/bench/paired"
)

// Limits of the scores, as docs/proven.md states them.
const (
	quietShare   = 0.10 // of the step that the cured cause may still have
	healthyShare = 0.05 // that may be claimed on a healthy program
	ratioLow     = 0.8
	ratioHigh    = 1.25
	decidedWidth = 0.10 // of the real saving, to either side
	nearLines    = 2

	fewestRepeats = 3 // pairs of runs before the real saving may count as known
)

// outcome is what one case gave.
type outcome struct {
	name, generation string
	seed             uint64
	expect           *expect
	file             func(string) string // an expected file's drawn name
	slow             []document          // the slow program's profiles; the first one says what is named and placed, all what is promised
	fixed            document
	twin             bool         // fixed was made
	wall, cpu        [][2]float64 // seconds without a profiler: slow, fixed
	peers            []peer
	proof            *proof // nil where it was not asked for
	skipped, failed  string
}

// first is the first profile's first finding; nil without one.
func (o *outcome) first() *finding { return o.firstOf(&o.slow[0]) }

// firstOf is a profile's first finding that saves something, or where that is enough the one of the expected cause.
func (o *outcome) firstOf(doc *document) *finding {
	for i := range doc.Findings {
		if f := &doc.Findings[i]; f.Cause == o.expect.Cause || f.Saving != nil && !o.expect.Among {
			return f
		}
	}
	return nil
}

func (o *outcome) named() bool {
	f := o.first()
	if o.expect.Cause == none {
		return f == nil || o.claimed() <= healthyShare
	}
	return f != nil && f.Cause == o.expect.Cause && (o.expect.Sub == "" || f.Sub == o.expect.Sub) &&
		(o.expect.Because == "" || f.Because != nil && f.Because.Cause == o.expect.Because)
}

// hasPlace says that the case expects a place.
func (o *outcome) hasPlace() bool {
	e := o.expect
	return e.Line > 0 || e.Op != "" || e.Rank != nil
}

func (o *outcome) placed() bool {
	f, e := o.first(), o.expect
	if f == nil || !o.named() {
		return false
	}
	if e.Rank != nil && (f.Where.Rank == nil || *f.Where.Rank != *e.Rank) {
		return false
	}
	if e.Op != "" && !strings.Contains(f.Where.Op, e.Op) {
		return false
	}
	return e.Line == 0 || slices.ContainsFunc(append([]Place{e.Place}, e.Also...), func(p Place) bool {
		return o.at(p, f.Where.File, f.Where.Line)
	})
}

// at says that a file and line are an expected place.
func (o *outcome) at(p Place, file string, line int) bool {
	return filepath.Base(file) == filepath.Base(o.file(p.File)) && line >= p.Line-nearLines && line <= p.Line+nearLines
}

// span is a promised saving over the run in seconds with its bounds.
type span struct{ Low, Mid, High float64 }

// promised is a profile's saving; zeros without one.
func (o *outcome) promised(doc *document) span {
	if f := o.firstOf(doc); f != nil && f.Saving != nil && f.Saving.RunS != nil {
		return *f.Saving.RunS
	}
	return span{}
}

// predicted is what the profiles promise: the medians of their savings and of their bounds.
func (o *outcome) predicted() span {
	var low, mid, high []float64
	for i := range o.slow {
		p := o.promised(&o.slow[i])
		low, mid, high = append(low, p.Low), append(mid, p.Mid), append(high, p.High)
	}
	return span{paired.Median(low), paired.Median(mid), paired.Median(high)}
}

// real is the measured saving in seconds: the mean of the pairs' differences, and half of its 95 % interval (infinite for one pair).
func (o *outcome) real() (saved, half float64) {
	i := paired.Difference(sides(o.wall))
	if math.IsNaN(i.High) {
		return i.Mid, math.Inf(1)
	}
	return i.Mid, i.High - i.Mid
}

// sides are the slow and the fixed program's seconds of all pairs.
func sides(pairs [][2]float64) (slow, fixed []float64) {
	for _, p := range pairs {
		slow, fixed = append(slow, p[0]), append(fixed, p[1])
	}
	return slow, fixed
}

// decided says that the real saving is known well enough to judge a price by.
func (o *outcome) decided() bool {
	saved, half := o.real()
	return half <= decidedWidth*math.Abs(saved)
}

func (o *outcome) ratio() float64 {
	saved, _ := o.real()
	return o.predicted().Mid / saved
}

func (o *outcome) priced() bool { r := o.ratio(); return r >= ratioLow && r <= ratioHigh }

// held is how many of the profiles' intervals hold the measured saving.
func (o *outcome) held() int {
	saved, _ := o.real()
	n := 0
	for i := range o.slow {
		p := o.promised(&o.slow[i])
		n += count(saved >= p.Low && saved <= p.High)
	}
	return n
}

// quiet says that the fixed program's report no longer has the cause above a tenth of the step, or at all where it ended the program.
func (o *outcome) quiet() bool {
	return !slices.ContainsFunc(o.fixed.Findings, func(f finding) bool {
		return f.Cause == o.expect.Cause && (o.expect.Sub == "" || f.Sub == o.expect.Sub) &&
			(o.expect.Ends || o.expect.Unpriced || f.Saving != nil && f.Share > max(quietShare, o.expect.Left))
	})
}

// claimed is the largest share that the report claims can be saved: of the run, by findings with a saving.
func (o *outcome) claimed() float64 {
	most := 0.0
	doc := &o.slow[0]
	for _, f := range doc.Findings {
		if f.Saving != nil && f.Saving.RunS != nil && doc.Run.WallS > 0 {
			most = max(most, f.Saving.RunS.Mid/doc.Run.WallS)
		}
	}
	return most
}

// said is what the first finding says, for the confusion matrix.
func (o *outcome) said() string {
	f := o.first()
	if f == nil || o.expect.Cause == none && o.named() {
		return none
	}
	return label(f.Cause, f.Sub)
}

func mark(ok bool) string {
	if ok {
		return "yes"
	}
	return "NO"
}

func header(w io.Writer) {
	fmt.Fprintf(w, "%-10s %4s %-22s %-5s %-6s %22s %16s %6s %-9s %-5s %-5s %7s  %s\n", "PyTorch", "seed", "case", "named", "placed",
		"predicted s", "real s", "ratio", "priced", "holds", "quiet", "unknown", "first finding")
}

func (o *outcome) write(w io.Writer) {
	fmt.Fprintf(w, "%-10s %4d %-22s ", o.generation, o.seed, o.name)
	switch {
	case o.skipped != "":
		fmt.Fprintf(w, "left out: %s\n", o.skipped)
		return
	case o.failed != "":
		fmt.Fprintf(w, "FAILED: %s\n", o.failed)
		return
	}
	placed := "-"
	if o.hasPlace() {
		placed = mark(o.placed())
	}
	fmt.Fprintf(w, "%-5s %-6s ", mark(o.named()), placed)
	if len(o.wall) > 0 {
		p := o.predicted()
		saved, half := o.real()
		verdict := "undecided"
		if o.decided() {
			verdict = mark(o.priced())
		}
		fmt.Fprintf(w, "%6.2f [%6.2f, %6.2f] %7.2f ± %6.2f %6.2f %-9s %-5s %-5s ", p.Mid, p.Low, p.High, saved, half, o.ratio(), verdict,
			fmt.Sprintf("%d/%d", o.held(), len(o.slow)), mark(o.quiet()))
	} else {
		quiet := "-"
		if o.twin {
			quiet = mark(o.quiet())
		}
		fmt.Fprintf(w, "%22s %16s %6s %-9s %-5s %-5s ", "-", "-", "-", "-", "-", quiet)
	}
	fmt.Fprintf(w, "%6.1f%%  %s\n", 100*o.slow[0].unknown(), o.finding())
	for _, p := range o.peers {
		fmt.Fprintf(w, "%38s%s: %s\n", "", p.name, p.said)
	}
}

// finding describes the first finding and its place.
func (o *outcome) finding() string {
	f := o.first()
	if f == nil {
		return cmp.Or(o.slow[0].Verdict.Sentence, "nothing")
	}
	s := label(f.Cause, f.Sub)
	if f.Where.File != "" {
		s += fmt.Sprintf(" at %s:%d", filepath.Base(f.Where.File), f.Where.Line)
	}
	if f.Where.Op != "" {
		s += " " + f.Where.Op
	}
	if f.Where.Rank != nil {
		s += fmt.Sprintf(" on rank %d", *f.Where.Rank)
	}
	if len(o.wall) > 0 && len(o.cpu) > 0 {
		slow, fixed := sides(o.wall)
		cpuSlow, cpuFixed := sides(o.cpu)
		s += fmt.Sprintf(" (wall %.1f → %.1f s, CPU %.1f → %.1f s)", paired.Median(slow), paired.Median(fixed), paired.Median(cpuSlow),
			paired.Median(cpuFixed))
	}
	return s
}
