package main

import (
	"math"
	"slices"
	"testing"
)

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
		{tailNumbers("x", made(slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1.01}, 20)))[0],
			false},
		{tailNumbers("x", made(slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1.03}, 20)))[0],
			true},
		{tailNumbers("x", made(slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{1.03}, 20), slices.Repeat([]float64{1.01}, 20)))[1],
			true},
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
