package stats

import (
	"math"
	"slices"
)

// maxExact is the number of values up to which the distribution of rank sums is counted out; beyond it is normal to three digits.
const maxExact = 80

// Shift is how far the values of one sample lie above those of another, with an interval. Low and High are infinite where the
// samples are too small for the level that was asked for.
type Shift struct{ Low, Mid, High float64 }

// RankShift is the estimate of Hodges and Lehmann of how far b lies above a, the median of all differences, with the interval that
// inverts the rank sum test of Wilcoxon, Mann and Whitney at the level alpha (Hollander, Wolfe, Chicken: Nonparametric Statistical
// Methods, 4.2 and 4.3). It assumes no distribution. Both samples hold at least one value.
func RankShift(a, b []float64, alpha float64) Shift {
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	s := Shift{math.Inf(-1), Quantile(differences, 0.5), math.Inf(1)}
	if cut := rankSumCut(len(a), len(b), alpha); cut > 0 {
		s.Low, s.High = differences[cut-1], differences[len(differences)-cut]
	}
	return s
}

// rankSumCut is the number of the sorted difference at which the interval of the level alpha ends, counted from either side; 0 where
// even the outermost one would not do.
func rankSumCut(m, n int, alpha float64) int {
	if m+n > maxExact {
		mean, sd := float64(m*n)/2, math.Sqrt(float64(m*n*(m+n+1))/12)
		return max(int(mean+sd*normalQuantile(alpha/2)), 0)
	}
	ranks := make([]int, m+n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	ways := subsetSums(ranks, m)
	least := m * (m + 1) / 2
	below := 0.0
	for cut := 0; ; cut++ { // the interval from difference cut+1 leaves out what has a rank sum of least+cut or less
		below += ways[least+cut]
		if below > alpha/2 {
			return cut
		}
	}
}

// RankSum is the two-sided p-value of the rank sum test that a and b are of one distribution: the share of all ways to deal the values
// to two samples of these sizes that are at least as far apart. Equal values share the mean of their ranks, exactly so.
func RankSum(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	ranks := doubledRanks(a, b)
	sum, all := 0, 0
	for i, r := range ranks {
		all += r
		if i < len(a) {
			sum += r
		}
	}
	n := len(ranks)
	twiceOff := func(sum int) int { return abs(sum*n - all*len(a)) } // distance from the expected sum, times n
	if n > maxExact {
		return normalRankSum(ranks, len(a), float64(twiceOff(sum))/float64(n))
	}
	p := 0.0
	for s, share := range subsetSums(ranks, len(a)) {
		if share > 0 && twiceOff(s) >= twiceOff(sum) {
			p += share
		}
	}
	return min(p, 1)
}

// normalRankSum is the normal approximation with the variance of the ranks that occurred; off is the distance from the expected sum.
func normalRankSum(ranks []int, m int, off float64) float64 {
	n := float64(len(ranks))
	mean, squares := 0.0, 0.0
	for _, r := range ranks {
		mean += float64(r) / n
	}
	for _, r := range ranks {
		squares += (float64(r) - mean) * (float64(r) - mean)
	}
	sd := math.Sqrt(float64(m) * (n - float64(m)) / (n * (n - 1)) * squares)
	if sd == 0 {
		return 1
	}
	return math.Erfc(max(off-1, 0) / sd / math.Sqrt2)
}

// doubledRanks are twice the ranks of a's and b's values, in their order; doubled, so that means of ranks are whole numbers.
func doubledRanks(a, b []float64) []int {
	values := append(slices.Clone(a), b...)
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})
	ranks := make([]int, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		from = to
	}
	return ranks
}

// subsetSums is how the sums of m of the numbers are distributed, as shares of all subsets of that size.
func subsetSums(numbers []int, m int) []float64 {
	total := 0
	for _, r := range numbers {
		total += r
	}
	// ways[k][s]: share of subsets of k numbers; dividing as it goes keeps the numbers small.
	ways := make([][]float64, m+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	reach := 0
	for i, r := range numbers {
		reach += r
		for k := min(i+1, m); k >= 1; k-- {
			// C(i+1, k) = C(i, k) + C(i, k−1): shares of those without and with this number
			with := float64(k) / float64(i+1)
			for s := reach; s >= 0; s-- {
				ways[k][s] *= 1 - with
				if s >= r {
					ways[k][s] += with * ways[k-1][s-r]
				}
			}
		}
	}
	return ways[m]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
