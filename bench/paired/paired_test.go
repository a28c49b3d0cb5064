package paired

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRatioCovers draws pairs around a known ratio, with a drift that pairs share: 95 % intervals must hold the
// ratio in about 95 % of the draws.
func TestRatioCovers(t *testing.T) {
	const draws, ratio = 4000, 1.03
	r := rand.New(rand.NewPCG(1, 2))
	for _, pairs := range []int{2, 5, 6, 20} {
		held := 0
		for range draws {
			a, b := make([]float64, pairs), make([]float64, pairs)
			for i := range a {
				drift := math.Exp(r.NormFloat64() * 0.5)
				a[i] = drift * math.Exp(r.NormFloat64()*0.02)
				b[i] = drift * ratio * math.Exp(r.NormFloat64()*0.02)
			}
			if i := Ratio(a, b); i.Low <= ratio && ratio <= i.High {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.935 || share > 0.975 {
			t.Errorf("%d pairs: the interval held the ratio in %.1f %% of the draws", pairs, share*100)
		}
	}
}

// A few pairs that something else slowed down do not move the ratio.
func TestRatioWithSpoiltPairs(t *testing.T) {
	a, b := slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1.01}, 20)
	for i := range 4 {
		b[5*i] = 1.4
	}
	if i := Ratio(a, b); i.Mid > 1.011 || i.Low > 1.011 {
		t.Errorf("%.3f (%.3f to %.3f), want 1.010", i.Mid, i.Low, i.High)
	}
}

// Critical values of the signed-rank statistic for a two-sided 5 %, as tables have them: n = 6: 0, 10: 8, 20: 52.
func TestSignedRank(t *testing.T) {
	for n, want := range map[int]int{6: 0, 10: 8, 20: 52} {
		if got := signedRank(n) - 1; got != want {
			t.Errorf("n = %d: %d, want %d", n, got, want)
		}
	}
}

// Student's own ten pairs, hours of sleep gained with two drugs: 1.58 hours between them with a standard deviation of 1.23, of which
// tables give the interval 0.70 to 2.46. As two independent samples the same hours give -0.20 to 3.36.
func TestDifference(t *testing.T) {
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.0005 }
	if i := Difference(second, first); !near(i.Low, 0.7001) || !near(i.Mid, 1.58) || !near(i.High, 2.4599) {
		t.Errorf("%.4f (%.4f to %.4f), want 1.5800 (0.7001 to 2.4599)", i.Mid, i.Low, i.High)
	}
	// 4 and 2: mean 3, standard error 1.
	if i := Difference([]float64{10, 20}, []float64{6, 18}); !near(i.Low, 3-12.706) || !near(i.Mid, 3) || !near(i.High, 3+12.706) {
		t.Errorf("%.4f (%.4f to %.4f), want 3 ± 12.706", i.Mid, i.Low, i.High)
	}
	if i := Difference([]float64{10}, []float64{6}); i.Mid != 4 || !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
		t.Errorf("%v of one pair, want 4 without an interval", i)
	}
}

// Forty differences of 1 and 3 in turn have the mean 2 and the standard error √(40/39/40).
func TestDifferenceOfManyPairs(t *testing.T) {
	a, b := slices.Repeat([]float64{11, 13}, 20), slices.Repeat([]float64{10}, 40)
	half := 2.0227 * math.Sqrt(1/39.0)
	if i := Difference(a, b); math.Abs(i.Mid-2) > 1e-9 || math.Abs(i.High-2-half) > 1e-4 || math.Abs(2-i.Low-half) > 1e-4 {
		t.Errorf("%v, want 2 ± %.4f", i, half)
	}
}
