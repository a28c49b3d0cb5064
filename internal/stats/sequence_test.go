package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSequenceIsTheTest asks that the interval ends exactly where the test of a shifted mean does.
func TestSequenceIsTheTest(t *testing.T) {
	d := []float64{1.1, 0.8, 1.3, 0.9, 1.0, 1.2, 0.7}
	for _, alpha := range []float64{0.05, 0.01} {
		s := PairedSequence(d, alpha)
		for _, end := range []float64{s.Low, s.High} {
			shifted := make([]float64, len(d))
			for i := range d {
				shifted[i] = d[i] - end
			}
			if p := SequenceP(shifted); math.Abs(p-alpha) > 1e-9 {
				t.Errorf("p at the end %v of the interval at %v is %v", end, alpha, p)
			}
		}
	}
}

// TestSequenceAgainstIntegral computes the Bayes factor of a few differences by its definition, as an integral of noncentral t densities
// over
// the prior, with the scale integrated out by Jeffreys' prior.
func TestSequenceAgainstIntegral(t *testing.T) {
	d := []float64{0.4, 1.9, 0.6, 1.2}
	likelihood := func(effect float64) float64 { // ∫ Π N(d; effect·σ, σ²) dσ/σ
		sum := 0.0
		for x := -8.0; x < 8; x += 0.01 { // σ = e^x, dσ/σ = dx
			sigma, log := math.Exp(x), 0.0
			for _, v := range d {
				z := v/sigma - effect
				log += -z*z/2 - x
			}
			sum += math.Exp(log) * 0.01
		}
		return sum
	}
	marginal := 0.0
	for e := -15.0; e < 15; e += 0.05 {
		marginal += likelihood(e) * math.Exp(-e*e/2/effectSpread/effectSpread) / effectSpread / math.Sqrt(2*math.Pi) * 0.05
	}
	if want, got := likelihood(0)/marginal, SequenceP(d); math.Abs(got-want) > 1e-3*want {
		t.Errorf("1 over the Bayes factor is %v, by the integral %v", got, want)
	}
}

// TestSequenceKeepsItsLevel looks after every pair, up to 40, at differences without an effect: normal ones, heavy-tailed ones, and ones of
// which some pairs were disturbed.
func TestSequenceKeepsItsLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	draws := map[string]func() float64{
		"normal": r.NormFloat64,
		"heavy": func() float64 {
			return math.Exp(math.Abs(r.NormFloat64()/(0.3+r.Float64()))) - math.Exp(math.Abs(r.NormFloat64()/(0.3+r.Float64())))
		},
		"spoilt": func() float64 {
			v := r.NormFloat64()
			if r.Float64() < 0.1 {
				v *= 20
			}
			return v
		},
	}
	const series = 1500
	for name, draw := range draws {
		wrong := 0
		for range series {
			var d []float64
			for len(d) < 40 {
				d = append(d, draw())
				if s := PairedSequence(d, 0.01); s.Low > 0 || s.High < 0 {
					wrong++
					break
				}
			}
		}
		if wrong > series/100 {
			t.Errorf("%s: %d of %d series without an effect were called different", name, wrong, series)
		}
	}
}

func TestSequenceDecidesSoon(t *testing.T) {
	if s := PairedSequence([]float64{10, 10.1, 9.9}, 0.01); !math.IsInf(s.Low, -1) {
		t.Errorf("three pairs decided at 1 %%: %v", s)
	}
	if s := PairedSequence([]float64{10, 10.1, 9.9, 10}, 0.01); s.Low < 9 || s.High > 11 {
		t.Errorf("four pairs with an effect of 100 deviations: %v", s)
	}
	if s := PairedSequence([]float64{5, 5, 5, 5}, 0.01); s != (Shift{5, 5, 5}) || SequenceP([]float64{5, 5, 5, 5}) > 0.01 {
		t.Errorf("equal differences: %v", s)
	}
}
