package paired

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Spread is what many groups of few values say together of how far values of one group lie apart. Three pairs tell next to nothing of
// their own spread, so that Student's t asks for an interval several times too wide; the pairs of forty programs tell how far pairs lie
// apart on this machine. The zero value knows nothing and gives Student's t.
type Spread struct {
	variance float64 // of a value about its group's mean, as groups have it that tell nothing themselves
	free     float64 // how many degrees of freedom that is worth; more, the more the groups are alike
}

// spoilt is the probability under which a group's variance is taken for that of a group that something disturbed: others say nothing of it.
const spoilt = 0.01

// fewestGroups is the number of groups from which on they are asked.
const fewestGroups = 6

// SpreadOf fits a spread to groups of values of one unit; groups of fewer than two values, or of equal ones, are left out. It supposes that
// a group's variance is drawn from a scaled inverse chi-squared distribution, and fits that by the mean and the variance of the logarithms
// (Smyth: Linear models and empirical Bayes methods for assessing differential expression in microarray experiments, Statistical
// Applications in Genetics and Molecular Biology 3, 2004, section 6.2).
func SpreadOf(groups [][]float64) Spread {
	var logs []float64 // of variances, without what their degrees of freedom add
	var free, own float64
	for _, values := range groups {
		variance := varianceOf(values)
		if !(variance > 0) {
			continue
		}
		half := float64(len(values)-1) / 2
		logs = append(logs, math.Log(variance)-mathext.Digamma(half)+math.Log(half))
		own += trigamma(half)
		free += 2 * half
	}
	n := float64(len(logs))
	if n < fewestGroups {
		return Spread{}
	}
	mean := meanOf(logs)
	left := varianceOf(logs) - own/n // what the groups' variances differ by beyond chance
	if left <= 0 {
		return Spread{math.Exp(mean), free}
	}
	half := inverseTrigamma(left)
	return Spread{math.Exp(mean + mathext.Digamma(half) - math.Log(half)), min(2*half, free)}
}

// Mean is the mean of values with its 95 % interval.
func (s Spread) Mean(values []float64) Interval { return s.MeanAt(0.95, values) }

// MeanAt is the mean of values with an interval of the given confidence: Student's t with the values' own variance and the groups', each
// weighed by its degrees of freedom (the moderated t of the same paper, section 5). Of fewer than two values the interval is NaN. A group
// that the others do not explain stands for itself.
func (s Spread) MeanAt(confidence float64, values []float64) Interval {
	mean := meanOf(values)
	if len(values) < 2 {
		return Interval{math.NaN(), mean, math.NaN()}
	}
	own := float64(len(values) - 1)
	if s.free > 0 && (distuv.F{D1: own, D2: s.free}).Survival(varianceOf(values)/s.variance) < spoilt {
		s = Spread{}
	}
	free := own + s.free
	variance := (own*varianceOf(values) + s.free*s.variance) / free
	t := distuv.StudentsT{Sigma: 1, Nu: free}.Quantile((1 + confidence) / 2)
	half := t * math.Sqrt(variance/float64(len(values)))
	return Interval{mean - half, mean, mean + half}
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// varianceOf is the variance of a sample; NaN of fewer than two values.
func varianceOf(values []float64) float64 {
	mean, squares := meanOf(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return squares / float64(len(values)-1)
}

// trigamma is the second derivative of the logarithm of the gamma function.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma finds x with trigamma(x) = y for y > 0 by Newton's method on 1/trigamma, which is nearly a line (the same paper's
// appendix).
func inverseTrigamma(y float64) float64 {
	x := 0.5 + 1/y
	for range 50 {
		t := trigamma(x)
		step := t * (1 - t/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if math.Abs(step) < 1e-8*x {
			break
		}
	}
	return x
}
