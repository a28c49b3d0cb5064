package stats

import (
	"slices"
	"testing"
)

// TestInOrder goes over a map from its smallest key on, each time the same, and stops where it is told to.
func TestInOrder(t *testing.T) {
	m := map[int]float64{3: 0.3, -1: 1e16, 2: 1, 7: -1e16, 40: 0.1}
	want := 0.0
	for _, v := range []float64{1e16, 1, 0.3, -1e16, 0.1} {
		want += v
	}
	for range 50 {
		var keys []int
		sum := 0.0
		for k, v := range InOrder(m) {
			if keys = append(keys, k); v != m[k] {
				t.Fatalf("value %v of key %d", v, k)
			}
			sum += v
		}
		if !slices.Equal(keys, []int{-1, 2, 3, 7, 40}) || sum != want {
			t.Fatalf("keys %v, sum %v", keys, sum)
		}
	}
	for k := range InOrder(m) {
		if k != -1 {
			t.Fatalf("went on to %d", k)
		}
		break
	}
}
