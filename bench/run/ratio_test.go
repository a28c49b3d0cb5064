package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPairedRatioCovers draws pairs around a known ratio, with a drift that pairs share: 95 % intervals must hold the
// ratio in about 95 % of the draws.
func TestPairedRatioCovers(t *testing.T) {
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
			if i := pairedRatio(a, b); i.low <= ratio && ratio <= i.high {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.935 || share > 0.975 {
			t.Errorf("%d pairs: the interval held the ratio in %.1f %% of the draws", pairs, share*100)
		}
	}
}

// A few pairs that something else slowed down do not move the ratio.
func TestPairedRatioWithSpoiltPairs(t *testing.T) {
	a, b := make20(1), make20(1.01)
	for i := range 4 {
		b[5*i] = 1.4
	}
	if i := pairedRatio(a, b); i.mid > 1.011 || i.low > 1.011 {
		t.Errorf("%.3f (%.3f to %.3f), want 1.010", i.mid, i.low, i.high)
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

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		r      row
		missed bool
	}{
		{row{value: 0.6, goal: 0.5, goalText: "x"}, true},
		{row{value: 0.4, goal: 0.5, goalText: "x"}, false},
		{row{value: 2, goal: 3, goalText: "x", atLeast: true}, true},
		{row{value: 3, goal: 3, goalText: "x", atLeast: true}, false},
		{row{value: math.NaN(), goal: 3, goalText: "x"}, true},
		{row{value: math.NaN(), goal: 3, goalText: "x", atLeast: true}, true},
		{tailNumbers("x", made(make20(1), make20(1), make20(1.01)))[0], false},
		{tailNumbers("x", made(make20(1), make20(1), make20(1.03)))[0], true},
		{tailNumbers("x", made(make20(1), make20(1.03), make20(1.01)))[1], true},
		{tailNumbers("x", made([]float64{1}, []float64{1}, []float64{1}))[0], true}, // one pair gives no interval
	} {
		if c.r.missed() != c.missed {
			t.Errorf("%+v: missed() = %v", c.r, !c.missed)
		}
	}
}

// made are turns with these times.
func made(plain, again, measured []float64) *turns {
	var t turns
	for i := range plain {
		t.add([3]step{{wall: plain[i], cpu: plain[i]}, {wall: again[i], cpu: again[i]}, {wall: measured[i], cpu: measured[i]}})
	}
	return &t
}

func make20(value float64) []float64 {
	values := make([]float64, 20)
	for i := range values {
		values[i] = value
	}
	return values
}
