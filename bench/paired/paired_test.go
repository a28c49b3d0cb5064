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
