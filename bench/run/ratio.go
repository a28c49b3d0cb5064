package main

import (
	"math"
	"slices"
)

// interval is a ratio with its 95 % interval; low and high are NaN for fewer than two pairs.
type interval struct{ low, mid, high float64 }

// studentT are the two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom.
var studentT = []float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// pairedRatio is the geometric mean of b[i]/a[i] with its interval, from Student's t on the logarithms: pairs lie next to
// each other in time, so slow drift of the machine cancels. Beyond 30 degrees of freedom t of 30 is used, which is wider.
func pairedRatio(a, b []float64) interval {
	n := float64(len(a))
	logs := make([]float64, len(a))
	sum := 0.0
	for i := range a {
		logs[i] = math.Log(b[i] / a[i])
		sum += logs[i]
	}
	mean := sum / n
	if len(a) < 2 {
		return interval{math.NaN(), math.Exp(mean), math.NaN()}
	}
	squares := 0.0
	for _, l := range logs {
		squares += (l - mean) * (l - mean)
	}
	half := studentT[min(len(a)-1, len(studentT))-1] * math.Sqrt(squares/(n-1)/n)
	return interval{math.Exp(mean - half), math.Exp(mean), math.Exp(mean + half)}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
