package paired

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSpreadCovers draws groups of three values with variances that differ from group to group: 95 % of the intervals must hold the
// group's mean, and they must be narrower than Student's of the group alone.
func TestSpreadCovers(t *testing.T) {
	const groups, rounds, n = 40, 100, 3
	r := rand.New(rand.NewPCG(3, 4))
	held, width, alone := 0, 0.0, 0.0
	for range rounds {
		drawn := make([][]float64, groups)
		for g := range drawn {
			chi := 0.0 // of 6 degrees of freedom
			for range 6 {
				x := r.NormFloat64()
				chi += x * x
			}
			for range n {
				drawn[g] = append(drawn[g], 0.1+0.02*math.Sqrt(6/chi)*r.NormFloat64())
			}
		}
		s := SpreadOf(drawn)
		for _, values := range drawn {
			i, own := s.Mean(values), Spread{}.Mean(values)
			if i.Low <= 0.1 && 0.1 <= i.High {
				held++
			}
			width, alone = width+i.High-i.Low, alone+own.High-own.Low
		}
	}
	if share := float64(held) / groups / rounds; share < 0.935 || share > 0.965 {
		t.Errorf("the interval held the mean in %.1f %% of the draws", share*100)
	}
	if width > 0.6*alone {
		t.Errorf("%.2f times as wide as Student's t of three values, want less than 0.6", width/alone)
	}
}

// TestSpoiltGroupStandsForItself: a pair that something slowed down is not made certain by the others.
func TestSpoiltGroupStandsForItself(t *testing.T) {
	var groups [][]float64
	for i := range 30 {
		shake := 0.005 * float64(i%6+1)
		groups = append(groups, []float64{0.1 - shake, 0.1 + shake})
	}
	s := SpreadOf(groups)
	if i := s.Mean([]float64{0.07, 0.75}); i.Low > 0 {
		t.Errorf("%v, want that nothing is certain", i)
	}
	if i := s.Mean([]float64{0.07, 0.11}); i.Low < 0 {
		t.Errorf("%v, want more than nothing", i)
	}
}

// TestSpreadOfFew: too few groups, or groups that tell nothing, leave Student's t as it is.
func TestSpreadOfFew(t *testing.T) {
	if s := SpreadOf([][]float64{{1, 2}, {1, 3}, {2, 2}, {5}, nil}); s != (Spread{}) {
		t.Errorf("%+v of two groups that tell something", s)
	}
	if i := (Spread{}).Mean(nil); !math.IsNaN(i.Mid) || !math.IsNaN(i.Low) {
		t.Errorf("%v of nothing", i)
	}
}

// Trigamma of 1 is π²/6, of 1/2 π²/2; its inverse gives back what it got.
func TestTrigamma(t *testing.T) {
	for x, want := range map[float64]float64{1: math.Pi * math.Pi / 6, 0.5: math.Pi * math.Pi / 2} {
		if got := trigamma(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("trigamma(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0.05, 0.7, 3, 400} {
		if got := inverseTrigamma(trigamma(x)); math.Abs(got/x-1) > 1e-6 {
			t.Errorf("inverse of trigamma(%v) = %v", x, got)
		}
	}
}
