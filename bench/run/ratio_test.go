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
	for _, pairs := range []int{2, 5, 20} {
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
		if share := float64(held) / draws; share < 0.935 || share > 0.965 {
			t.Errorf("%d pairs: the interval held the ratio in %.1f %% of the draws", pairs, share*100)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		r      row
		broken bool
	}{
		{row{value: 0.6, bound: 0.5}, true},
		{row{value: 0.4, bound: 0.5}, false},
		{row{value: 2, bound: 3, atLeast: true}, true},
		{row{value: 3, bound: 3, atLeast: true}, false},
		{row{value: math.NaN(), bound: 3}, true},
		{tailRow("x", make20(1), make20(1.01)), false},
		{tailRow("x", make20(1), make20(1.03)), true},
	} {
		if c.r.broken() != c.broken {
			t.Errorf("%+v: broken() = %v", c.r, !c.broken)
		}
	}
}

func make20(value float64) []float64 {
	values := make([]float64, 20)
	for i := range values {
		values[i] = value
	}
	return values
}

func TestTail(t *testing.T) {
	if got := tail([]float64{1, 2, 4, 8, 16}); got != 12 {
		t.Errorf("tail = %v, want 12", got)
	}
	if got := tail([]float64{1, 2, 3}); got != 0 {
		t.Errorf("tail of three lines = %v, want 0", got)
	}
}
