package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// TestRankSumCountsWays compares with going over all ways to deal the values.
func TestRankSumCountsWays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		a, b := make([]float64, 1+r.IntN(5)), make([]float64, 1+r.IntN(5))
		for i := range a {
			a[i] = float64(r.IntN(6)) // with ties
		}
		for i := range b {
			b[i] = float64(r.IntN(6))
		}
		near(t, "p", RankSum(a, b), slowRankSum(a, b), 1e-12)
	}
}

// slowRankSum goes over all subsets.
func slowRankSum(a, b []float64) float64 {
	all := append(slices.Clone(a), b...)
	rank := func(v float64) float64 {
		below, same := 0.0, 0.0
		for _, w := range all {
			if w < v {
				below++
			} else if w == v {
				same++
			}
		}
		return below + (same+1)/2
	}
	expected, seen := 0.0, 0.0
	for _, v := range all {
		expected += rank(v) * float64(len(a)) / float64(len(all))
	}
	for _, v := range a {
		seen += rank(v)
	}
	far, ways := 0.0, 0.0
	for set := range 1 << len(all) {
		sum, size := 0.0, 0
		for i, v := range all {
			if set>>i&1 == 1 {
				sum += rank(v)
				size++
			}
		}
		if size != len(a) {
			continue
		}
		ways++
		if math.Abs(sum-expected) >= math.Abs(seen-expected)-1e-9 {
			far++
		}
	}
	return far / ways
}

// TestSmallestP are the values that benchstat's documentation names.
func TestSmallestP(t *testing.T) {
	near(t, "3 + 3", RankSum([]float64{1, 2, 3}, []float64{4, 5, 6}), 0.1, 1e-12)
	near(t, "4 + 4", RankSum([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}), 2.0/70, 1e-12)
	near(t, "equal", RankSum([]float64{1, 1}, []float64{1, 1, 1}), 1, 0)
}

// TestRankShiftAgreesWithRankSum: 0 is outside of the interval exactly where the test rejects, without ties.
func TestRankShiftAgreesWithRankSum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	outside := 0
	for range 2000 {
		a, b := make([]float64, 3+r.IntN(8)), make([]float64, 3+r.IntN(8))
		for i := range a {
			a[i] = r.NormFloat64()
		}
		for i := range b {
			b[i] = r.NormFloat64() + 1
		}
		s := RankShift(a, b, 0.05)
		if !(s.Low <= s.Mid && s.Mid <= s.High) {
			t.Fatalf("%+v", s)
		}
		if excludes, p := s.Low > 0 || s.High < 0, RankSum(a, b); excludes != (p <= 0.05) {
			t.Fatalf("interval %+v, p %v", s, p)
		} else if excludes {
			outside++
		}
	}
	if outside < 500 {
		t.Errorf("only %d of 2000 shifted samples are told apart", outside)
	}
	if s := RankShift([]float64{1, 2, 3}, []float64{4, 5, 6}, 0.05); !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) {
		t.Errorf("three a side have an interval: %+v", s)
	}
}

// TestLargeSamples compares the approximation with the exact distribution where both exist.
func TestLargeSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	a, b := make([]float64, 40), make([]float64, 40)
	for i := range a {
		a[i], b[i] = r.NormFloat64(), r.NormFloat64()+0.5
	}
	ranks := doubledRanks(a, b)
	sum := 0
	for _, v := range ranks[:40] {
		sum += v
	}
	near(t, "p", normalRankSum(ranks, 40, math.Abs(float64(sum)-40*81)), RankSum(a, b), 0.002)
	long := RankShift(append(a, a...), append(b, b...), 0.05)
	if short := RankShift(a, b, 0.05); long.High-long.Low >= short.High-short.Low {
		t.Errorf("twice the values, no narrower interval: %+v, %+v", long, short)
	}
}

// TestStudent has the quantiles of the NIST/SEMATECH e-Handbook, 1.3.6.7.2.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		p    float64
		free int
		want float64
	}{{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 7, 2.365}, {0.995, 14, 2.977}, {0.995, 6, 3.707}, {0.95, 30, 1.697},
		{0.025, 10, -2.228}} {
		near(t, "quantile", StudentQuantile(c.p, c.free), c.want, 0.0006)
	}
}

// TestMeanShiftCovers: the interval holds the true shift as often as it says.
func TestMeanShiftCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	missed := 0
	const rounds = 20000
	for range rounds {
		a, b := make([]float64, 5), make([]float64, 6)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		for i := range b {
			b[i] = 2 + r.NormFloat64()
		}
		if s := MeanShift(a, b, 0.05); s.Low > 2 || s.High < 2 {
			missed++
		}
	}
	if share := float64(missed) / rounds; share > 0.056 || share < 0.03 {
		t.Errorf("missed %.3f of the time", share)
	}
}

// TestBatchErrorSeesAutocorrelation: neighbours that are alike count for less.
func TestBatchErrorSeesAutocorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	mean := func(v []float64) float64 { m, _ := MeanVariance(v); return m }
	var independent, alike []float64
	x := 0.0
	for range 4000 {
		independent = append(independent, r.NormFloat64())
		x = 0.9*x + math.Sqrt(1-0.81)*r.NormFloat64()
		alike = append(alike, x)
	}
	small, many, ok := BatchError(independent, mean)
	large, few, _ := BatchError(alike, mean)
	if !ok || many < 1500 || few > 700 || large < 2*small {
		t.Errorf("independent: error %.4f, %.0f effective; alike: error %.4f, %.0f effective", small, many, large, few)
	}
	if _, _, ok := BatchError(independent[:19], mean); ok {
		t.Error("19 values have batches")
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "corrected", got[i], want, 1e-12)
	}
}
