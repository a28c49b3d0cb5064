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
	slow, fixed      document
	twin             bool         // fixed was made
	wall, cpu        [][2]float64 // seconds without a profiler: slow, fixed
	peers            []peer
	skipped, failed  string
}

// first is the first finding that saves something, or where that is enough the one of the expected cause; nil without one.
func (o *outcome) first() *finding {
	for i := range o.slow.Findings {
		if f := &o.slow.Findings[i]; f.Cause == o.expect.Cause || f.Saving != nil && !o.expect.Among {
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
	return e.Line == 0 || slices.ContainsFunc(append([]Place{e.Place}, e.Also...), func(p Place) bool { return o.at(p, f.Where.File, f.Where.Line) })
}

// at says that a file and line are an expected place.
func (o *outcome) at(p Place, file string, line int) bool {
	return filepath.Base(file) == filepath.Base(o.file(p.File)) && line >= p.Line-nearLines && line <= p.Line+nearLines
}

// predicted is the promised saving over the run in seconds with its bounds; zeros without one.
func (o *outcome) predicted() (low, mid, high float64) {
	if f := o.first(); f != nil && f.Saving != nil && f.Saving.RunS != nil {
		return f.Saving.RunS.Low, f.Saving.RunS.Mid, f.Saving.RunS.High
	}
	return 0, 0, 0
}

// real is the measured saving in seconds: the difference of the sides' medians, and half of the 95 % interval of the
// difference of their means (Student's test of two samples with pooled variance; infinite for a single pair).
func (o *outcome) real() (saved, half float64) {
	var slow, fixed []float64
	for _, w := range o.wall {
		slow, fixed = append(slow, w[0]), append(fixed, w[1])
	}
	return paired.Median(slow) - paired.Median(fixed), halfInterval(slow, fixed)
}

// student95 are two-sided 95 % quantiles of Student's distribution for 1, 2, … degrees of freedom.
var student95 = []float64{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}

// halfInterval takes samples of the same size.
func halfInterval(x, y []float64) float64 {
	n := len(x)
	if n < 2 {
		return math.Inf(1)
	}
	free := 2*n - 2
	pooled := (squares(x) + squares(y)) / float64(free)
	return student95[min(free-1, len(student95)-1)] * math.Sqrt(2*pooled/float64(n))
}

// squares is the sum of squared distances from the mean.
func squares(x []float64) float64 {
	mean, ss := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return ss
}

// decided says that the real saving is known well enough to judge a price by.
func (o *outcome) decided() bool {
	saved, half := o.real()
	return half <= decidedWidth*math.Abs(saved)
}

func (o *outcome) ratio() float64 {
	_, mid, _ := o.predicted()
	saved, _ := o.real()
	return mid / saved
}

func (o *outcome) priced() bool { r := o.ratio(); return r >= ratioLow && r <= ratioHigh }

func (o *outcome) covered() bool {
	low, _, high := o.predicted()
	saved, _ := o.real()
	return saved >= low && saved <= high
}

// quiet says that the fixed program's report no longer has the cause above a tenth of the step, or at all where it ended the program.
func (o *outcome) quiet() bool {
	return !slices.ContainsFunc(o.fixed.Findings, func(f finding) bool {
		return f.Cause == o.expect.Cause && (o.expect.Sub == "" || f.Sub == o.expect.Sub) && (o.expect.Ends || f.Saving != nil && f.Share > max(quietShare, o.expect.Left))
	})
}

// claimed is the largest share that the report claims can be saved: of the run, by findings with a saving.
func (o *outcome) claimed() float64 {
	most := 0.0
	for _, f := range o.slow.Findings {
		if f.Saving != nil && f.Saving.RunS != nil && o.slow.Run.WallS > 0 {
			most = max(most, f.Saving.RunS.Mid/o.slow.Run.WallS)
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
	fmt.Fprintf(w, "%-10s %4s %-22s %-5s %-6s %22s %16s %6s %-9s %-5s %-5s %7s  %s\n", "PyTorch", "seed", "case", "named", "placed", "predicted s", "real s", "ratio", "priced",
		"holds", "quiet", "unknown", "first finding")
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
		low, mid, high := o.predicted()
		saved, half := o.real()
		verdict := "undecided"
		if o.decided() {
			verdict = mark(o.priced())
		}
		fmt.Fprintf(w, "%6.2f [%6.2f, %6.2f] %7.2f ± %6.2f %6.2f %-9s %-5s %-5s ", mid, low, high, saved, half, o.ratio(), verdict, mark(o.covered()), mark(o.quiet()))
	} else {
		quiet := "-"
		if o.twin {
			quiet = mark(o.quiet())
		}
		fmt.Fprintf(w, "%22s %16s %6s %-9s %-5s %-5s ", "-", "-", "-", "-", "-", quiet)
	}
	fmt.Fprintf(w, "%6.1f%%  %s\n", 100*o.slow.unknown(), o.finding())
	for _, p := range o.peers {
		fmt.Fprintf(w, "%38s%s: %s\n", "", p.name, p.said)
	}
}

// finding describes the first finding and its place.
func (o *outcome) finding() string {
	f := o.first()
	if f == nil {
		return cmp.Or(o.slow.Verdict.Sentence, "nothing")
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
		var slow, fixed, cpuSlow, cpuFixed []float64
		for i := range o.wall {
			slow, fixed = append(slow, o.wall[i][0]), append(fixed, o.wall[i][1])
			cpuSlow, cpuFixed = append(cpuSlow, o.cpu[i][0]), append(cpuFixed, o.cpu[i][1])
		}
		s += fmt.Sprintf(" (wall %.1f → %.1f s, CPU %.1f → %.1f s)", paired.Median(slow), paired.Median(fixed), paired.Median(cpuSlow), paired.Median(cpuFixed))
	}
	return s
}
