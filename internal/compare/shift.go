package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"math"
	"slices"
)

// The level of the tests. A difference is one if an interval without it is missing at both: of the rank sum test, which assumes nothing
// about how times are distributed, at rankLevel, for which four runs a side are enough; and of Welch's, at meanLevel. The first alone
// would call every twentieth pair of equal sides different, the second alone trusts outliers.
const (
	rankLevel = 0.05
	meanLevel = 0.01
	rowLevel  = 0.01 // of a family of rows, after Holm's correction
)

// FewestRuns is how many runs a side must have for times to be judged.
const FewestRuns = 4

// reference is the difference that users ask for: equal sides are equal within it, and how many runs would show it is said.
const reference = 0.02

// shift is the difference of the medians of two sides of at least FewestRuns runs, with the hull of both intervals.
func shift(a, b []float64) (s stats.Shift, enough bool) {
	s = stats.Shift{Mid: medianValue(b) - medianValue(a)}
	if len(a) < FewestRuns || len(b) < FewestRuns {
		return s, false
	}
	rank, mean := stats.RankShift(a, b, rankLevel), stats.MeanShift(a, b, meanLevel)
	s.Low, s.High = min(rank.Low, mean.Low, s.Mid), max(rank.High, mean.High, s.Mid)
	return s, true
}

func differs(s stats.Shift) bool { return s.Low > 0 || s.High < 0 }

// test is how two sides' values are compared: their shift with its interval, and the p-value of no shift.
type test struct {
	shift func(a, b []float64) (s stats.Shift, enough bool)
	p     func(a, b []float64) float64
	// half is half the interval's width for so many runs a side, as far apart as these.
	half func(a, b []float64, runs int) float64
}

// Runs that know nothing of each other, and runs that were made in turns.
var (
	independent = test{shift, stats.RankSum, independentHalf}
	inTurns     = test{pairedShift(meanLevel), pairedP, pairedHalf(meanLevel)}
	inProof     = test{pairedShift(proofLevel), pairedP, pairedHalf(proofLevel)}
)

// proofLevel is the level of a proof's interval: the change is the finding's, and it was one question.
const proofLevel = 0.05

// pairedShift is the difference of the medians of runs made in turns, with an interval that holds whenever one stops.
func pairedShift(level float64) func(a, b []float64) (stats.Shift, bool) {
	return func(a, b []float64) (stats.Shift, bool) { return pairedAt(a, b, level) }
}

func pairedAt(a, b []float64, level float64) (s stats.Shift, enough bool) {
	s = stats.Shift{Mid: medianValue(b) - medianValue(a)}
	d := differences(a, b)
	if len(d) < FewestRuns {
		return s, false
	}
	seen := stats.PairedSequence(d, level)
	s.Low, s.High = min(seen.Low, s.Mid), max(seen.High, s.Mid)
	return s, true
}

func pairedP(a, b []float64) float64 { return stats.SequenceP(differences(a, b)) }

// differences are those of each pair; what was left without its other side is in none.
func differences(a, b []float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = b[i] - a[i]
	}
	return out
}

func pairedHalf(level float64) func(a, b []float64, runs int) float64 {
	return func(a, b []float64, runs int) float64 { return halfAt(a, b, runs, level) }
}

func halfAt(a, b []float64, runs int, level float64) float64 {
	d := differences(a, b)
	repeated := make([]float64, 0, runs)
	mean, variance := stats.MeanVariance(d)
	for i := range runs { // of the same spread
		repeated = append(repeated, mean+math.Sqrt(variance)*float64(1-2*(i%2)))
	}
	s := stats.PairedSequence(repeated, level)
	return (s.High - s.Low) / 2
}

func independentHalf(a, b []float64, runs int) float64 {
	_, va := stats.MeanVariance(a)
	_, vb := stats.MeanVariance(b)
	return stats.StudentQuantile(1-meanLevel/2, max(runs-1, 1)) * math.Sqrt((va+vb)/float64(runs))
}

// judge fills verdict, interval and what could have been shown.
func judge(d *report.Diff, before, after []timed, by test) {
	a, b := times(before), times(after)
	s, enough := by.shift(a, b)
	d.Step = report.DiffStep{BeforeMs: medianValue(a), AfterMs: medianValue(b), DifferenceMs: s.Mid}
	d.NoiseCovered = enough
	d.Verdict = report.Undecided
	if !enough {
		inside(d, before, after)
		more := max(FewestRuns-min(len(a), len(b)), 1)
		d.MoreRuns = &more
		return
	}
	d.Step.LowMs, d.Step.HighMs = &s.Low, &s.High
	smallest := smallestShown(a, b, d.InTurns)
	d.SmallestMs = &smallest
	scale := d.Step.BeforeMs
	switch {
	case s.Low > 0:
		d.Verdict = report.Slower
	case s.High < 0:
		d.Verdict = report.Faster
	case max(-s.Low, s.High) <= reference*scale:
		d.Verdict = report.Equal
	}
	if more, ok := moreRuns(a, b, reference*scale, by); ok && d.Verdict == report.Undecided {
		d.MoreRuns = &more
	}
}

// smallestShown is the smallest difference that so many runs show: half of the mean's interval.
func smallestShown(a, b []float64, turns *report.DiffTurns) float64 {
	s := stats.MeanShift(a, b, meanLevel)
	if turns != nil {
		s = stats.PairedSequence(differences(a, b), turns.Level)
	}
	return (s.High - s.Low) / 2
}

// inside is what the steps of single runs alone could have shown.
func inside(d *report.Diff, before, after []timed) {
	variance := 0.0
	for _, side := range [][]timed{before, after} {
		of := 0.0
		for i := range side {
			if side[i].ErrorMs == nil {
				return
			}
			of += *side[i].ErrorMs * *side[i].ErrorMs
		}
		variance += of / float64(len(side)*len(side))
	}
	smallest := -normal(meanLevel/2) * math.Sqrt(variance)
	d.SmallestMs = &smallest
}

// normal is a quantile of the normal distribution.
func normal(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// mostRuns bounds how many runs are asked for: beyond them another way to measure is needed.
const mostRuns = 1000

// moreRuns is how many more runs a side would show a difference, going by the spread of these.
func moreRuns(a, b []float64, difference float64, by test) (int, bool) {
	have := min(len(a), len(b))
	for n := have; n <= mostRuns; n++ {
		if by.half(a, b, n) <= difference {
			return n - have, n > have
		}
	}
	return mostRuns, true
}

// judgeRows tests the rows of one kind, all together.
func judgeRows(rows []row, by test) {
	var tested []int
	var p []float64
	for i := range rows {
		r := &rows[i]
		s, enough := by.shift(r.runsBefore, r.runsAfter)
		if !enough || r.name == unexplained {
			continue
		}
		r.low, r.high = &s.Low, &s.High
		tested = append(tested, i)
		p = append(p, by.p(r.runsBefore, r.runsAfter))
	}
	for at, corrected := range stats.Holm(p) {
		r := &rows[tested[at]]
		r.different = corrected <= rowLevel && (*r.low > 0 || *r.high < 0)
	}
}

func sortFloats(v []float64) { slices.Sort(v) }
