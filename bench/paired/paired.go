// Package paired compares two sides that were measured in turn, so that what drifts with the machine meets both.
// It does not measure.
package paired

import (
	"fmt"
	"math"
	"slices"
)

// Interval is a ratio or a difference with its 95 % interval; Low and High are NaN for fewer than two pairs.
type Interval struct{ Low, Mid, High float64 }

// String is the value with its interval in brackets.
func (i Interval) String() string {
	if math.IsNaN(i.Low) {
		return fmt.Sprintf("%.3f (needs 2 pairs)", i.Mid)
	}
	return fmt.Sprintf("%.3f (%.3f–%.3f)", i.Mid, i.Low, i.High)
}

// fewestRanked is the number of pairs from which on ranks can give a 95 % interval.
const fewestRanked = 6

// Ratio is the ratio of b to a with its interval, from the logarithms of b[i]/a[i]: pairs lie next to each other in time, so
// slow drift of the machine cancels. It is the estimate of Hodges and Lehmann with the interval of Wilcoxon's signed ranks
// (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3.2 and 3.3), which some pairs that a busy machine spoilt do
// not move; of fewer than fewestRanked pairs the geometric mean with Student's t.
func Ratio(a, b []float64) Interval {
	logs := make([]float64, len(a))
	for i := range a {
		logs[i] = math.Log(b[i] / a[i])
	}
	if len(a) < fewestRanked {
		return meanRatio(logs)
	}
	var means []float64 // of each pair of logarithms and of each with itself
	for i := range logs {
		for j := range i + 1 {
			means = append(means, (logs[i]+logs[j])/2)
		}
	}
	slices.Sort(means)
	cut := signedRank(len(logs))
	return Interval{math.Exp(means[cut-1]), math.Exp(Median(means)), math.Exp(means[len(means)-cut])}
}

// signedRank is how far from either end of n values' sorted means the ends of the 95 % interval stand: the largest C for which the
// sum of the ranks of n values with random signs is below C with a probability of at most 0.025.
func signedRank(n int) int {
	ways := make([]float64, n*(n+1)/2+1) // to reach each sum, as shares of all
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(ways) - 1; sum >= 0; sum-- {
			ways[sum] /= 2
			if sum >= rank {
				ways[sum] += ways[sum-rank] / 2
			}
		}
	}
	c, below := 0, 0.0
	for below+ways[c] <= 0.025 {
		below += ways[c]
		c++
	}
	return max(c, 1)
}

// meanRatio is the geometric mean with the interval of Student's t.
func meanRatio(logs []float64) Interval {
	i := Spread{}.Mean(logs)
	return Interval{math.Exp(i.Low), math.Exp(i.Mid), math.Exp(i.High)}
}

// Difference is a minus b: the mean of a[i]-b[i] with the interval of Student's t for paired samples (Student: The probable error of a
// mean, Biometrika 6, 1908). What both of a pair share is no part of the differences, so that slow drift of the machine does not widen
// the interval as it does that of two independent samples. It is in the unit of the samples; of no pairs it is NaN.
func Difference(a, b []float64) Interval { return Spread{}.Mean(Differences(a, b)) }

// Differences are a[i]-b[i].
func Differences(a, b []float64) []float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return differences
}

// Median is the middle value, or the mean of the two middle ones; NaN of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
