package stats

import "math"

// MeanShift is how far the mean of b lies above that of a, with Welch's interval at the level alpha (B. L. Welch: The generalization of
// Student's problem when several different population variances are involved, Biometrika 34, 1947); its degrees of freedom are rounded
// down. The interval is infinite where a sample has fewer than two values.
func MeanShift(a, b []float64, alpha float64) Shift {
	ma, va := MeanVariance(a)
	mb, vb := MeanVariance(b)
	s := Shift{math.Inf(-1), mb - ma, math.Inf(1)}
	if len(a) < 2 || len(b) < 2 {
		return s
	}
	ea, eb := va/float64(len(a)), vb/float64(len(b))
	half := 0.0
	if se := ea + eb; se > 0 {
		free := se * se / (ea*ea/float64(len(a)-1) + eb*eb/float64(len(b)-1))
		half = StudentQuantile(1-alpha/2, int(free+1e-9)) * math.Sqrt(se)
	}
	return Shift{s.Mid - half, s.Mid, s.Mid + half}
}

// MeanVariance is the mean of values and their variance with n − 1 degrees of freedom, 0 of fewer than two. Of none the mean is 0.
func MeanVariance(values []float64) (mean, variance float64) {
	n := float64(len(values))
	if n == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / max(n-1, 1)
}

// StudentQuantile is the value below which Student's t lies with probability p, for a whole number of degrees of freedom of at least 1.
func StudentQuantile(p float64, free int) float64 {
	free = max(free, 1)
	if p < 0.5 {
		return -StudentQuantile(1-p, free)
	}
	low, high := 0.0, 1.0
	for StudentCDF(high, free) < p && high < 1e12 {
		high *= 2
	}
	for range 200 {
		middle := (low + high) / 2
		if StudentCDF(middle, free) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// StudentCDF is the probability that Student's t is at most t: the finite sums of Abramowitz and Stegun, Handbook of Mathematical
// Functions, 26.7.3 and 26.7.4.
func StudentCDF(t float64, free int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(free)))
	sin, cos := math.Sincos(theta)
	inside := 0.0 // probability of (-|t|, |t|), with t's sign
	if free%2 == 1 {
		term, sum := cos, 0.0
		for k := 1; k <= free-2; k += 2 {
			sum += term
			term *= cos * cos * float64(k+1) / float64(k+2)
		}
		inside = 2 / math.Pi * (theta + sin*sum)
	} else {
		term, sum := 1.0, 0.0
		for k := 0; k <= free-2; k += 2 {
			sum += term
			term *= cos * cos * float64(k+1) / float64(k+2)
		}
		inside = sin * sum
	}
	return (1 + inside) / 2
}
