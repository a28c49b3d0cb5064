package stats

import (
	"cmp"
	"slices"
)

// Holm corrects the p-values of a family of tests, so that the probability of even one false finding among them stays below the level
// that the corrected ones are compared with (S. Holm: A simple sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979). They keep their order.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out := make([]float64, len(p))
	above := 0.0
	for rank, i := range order {
		above = max(above, min(p[i]*float64(len(p)-rank), 1))
		out[i] = above
	}
	return out
}
