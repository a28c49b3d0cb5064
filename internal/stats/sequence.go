package stats

import "math"

// effectSpread is how large the differences that a sequential test is made for are, in standard deviations of a pair's difference: the
// spread of the normal prior over them. Any value keeps the level; this one decides large effects after few pairs and costs little where
// they are small.
const effectSpread = 3

// PairedSequence is the mean of differences that came one after the other, with an interval that holds at the level alpha however often
// one looks and whenever one stops. It inverts the Bayes factor of Student's t under a normal prior over the standardised effect (M. Gönen,
// W. O. Johnson, Y. Lu, P. H. Westfall: The Bayesian two-sample t test, The American Statistician 59, 2005). Under the hypothesis of no
// effect that factor is a martingale of the scale-free data whatever the variance is (A. Hendriksen, R. de Heide, P. Grünwald: Optional
// stopping with Bayes factors, Bayesian Analysis 16, 2021), so that it exceeds 1/alpha at any time with a probability of at most alpha
// (Ville). The interval is infinite where the differences are too few for the level.
func PairedSequence(differences []float64, alpha float64) Shift {
	mean, variance := MeanVariance(differences)
	s := Shift{math.Inf(-1), mean, math.Inf(1)}
	n := float64(len(differences))
	if n < 2 {
		return s
	}
	r := 1 + n*effectSpread*effectSpread
	k := math.Pow(math.Sqrt(r)/alpha, 2/n)
	if k >= r {
		return s
	}
	half := math.Sqrt((k - 1) / (1 - k/r) * (n - 1) * variance / n)
	return Shift{mean - half, mean, mean + half}
}

// SequenceP is the p-value of the same test that the differences have no effect: 1 over the Bayes factor, at most 1. It may be looked at
// after every pair.
func SequenceP(differences []float64) float64 {
	mean, variance := MeanVariance(differences)
	n := float64(len(differences))
	if n < 2 || mean == 0 {
		return 1
	}
	r := 1 + n*effectSpread*effectSpread
	grows := r // where the differences are all the same
	if variance > 0 {
		x := n * mean * mean / variance / (n - 1)
		grows = (1 + x) / (1 + x/r)
	}
	return min(1, math.Sqrt(r)*math.Pow(grows, -n/2))
}
