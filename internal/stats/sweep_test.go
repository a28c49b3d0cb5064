package stats

import (
	"math/rand/v2"
	"testing"
)

func TestCappedIntegral(t *testing.T) {
	in := []Weighted{{Interval{0, 10}, 0.5}, {Interval{5, 15}, 0.75}, {Interval{20, 20}, 1}, {Interval{30, 40}, 0.25}}
	// 0–5 at 0.5, 5–10 at 1 (capped), 10–15 at 0.75, 30–40 at 0.25
	if got := CappedIntegral(in, 1); got != 2.5+5+3.75+2.5 {
		t.Errorf("integral %v", got)
	}
	if got := CappedIntegral(nil, 1); got != 0 {
		t.Errorf("integral of nothing %v", got)
	}
}

// TestCappedAgainstGrid holds the sweep against a sum over every instant, for many intervals that overlap.
func TestCappedAgainstGrid(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var in []Weighted
		var level [64]float64
		for range random.IntN(40) {
			from := random.Int64N(60)
			w := Weighted{Interval{from, min(from+random.Int64N(20), 64)}, float64(random.IntN(8)) / 8}
			in = append(in, w)
			for at := w.From; at < w.To; at++ {
				level[at] += w.Weight
			}
		}
		want := 0.0
		for _, l := range level {
			want += min(l, 1.5)
		}
		if got := CappedIntegral(in, 1.5); got != want { // eighths add up exactly
			t.Fatalf("%v: %v, want %v", in, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	v := []int64{10, 20, 30, 40}
	for q, want := range map[float64]int64{0: 10, 0.5: 25, 1: 40, 0.25: 17} {
		if got := Quantile(v, q); got != want {
			t.Errorf("quantile %v: %d, want %d", q, got, want)
		}
	}
	if got := Quantile([]float64{1, 2}, 0.5); got != 1.5 {
		t.Errorf("median %v", got)
	}
	if Quantile([]int64(nil), 0.5) != 0 {
		t.Error("quantile of nothing")
	}
}
