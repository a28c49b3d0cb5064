package stats

import "testing"

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
