package stats

import (
	"cmp"
	"slices"
)

// Weighted is an interval with a weight.
type Weighted struct {
	Interval
	Weight float64
}

// CappedIntegral is the integral over time of min(limit, sum of the weights of the intervals that are open).
func CappedIntegral(in []Weighted, limit float64) float64 {
	type point struct {
		at     int64
		change float64
	}
	points := make([]point, 0, 2*len(in))
	for _, w := range in {
		if w.To > w.From {
			points = append(points, point{w.From, w.Weight}, point{w.To, -w.Weight})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.change, b.change)) })
	var sum, level float64
	for i, p := range points {
		if i > 0 {
			sum += max(0, min(level, limit)) * float64(p.at-points[i-1].at)
		}
		level += p.change
	}
	return sum
}

// Quantile is the value at share q (0 to 1) of sorted values, interpolated linearly between neighbours; 0 without values.
func Quantile[T ~int64 | ~float64](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := min(max(int(at), 0), len(sorted)-1)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + T(float64(sorted[high]-sorted[low])*(at-float64(low)))
}
