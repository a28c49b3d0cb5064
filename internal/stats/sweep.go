package stats

import (
	"cmp"
	"slices"
)

// Weighted is an interval with a weight.
type Weighted struct {
	Interval
	Weight float64
}

// CappedIntegral is the integral over time of min(limit, sum of the weights of the intervals that are open).
func CappedIntegral(in []Weighted, limit float64) float64 {
	in = slices.Clone(in)
	slices.SortFunc(in, func(a, b Weighted) int { return cmp.Compare(a.From, b.From) })
	c := Capped{Limit: limit}
	for _, w := range in {
		c.Add(w)
	}
	return c.Sum()
}

// Capped is CappedIntegral of intervals that come in order of their start, of which it keeps those that are open.
type Capped struct {
	Limit      float64
	sum, level float64
	now        int64
	open       []Weighted // a heap, the one that ends first on top
}

// Add adds an interval that begins no earlier than the one before it.
func (c *Capped) Add(w Weighted) {
	if w.To <= w.From {
		return
	}
	c.closeUntil(w.From)
	c.pass(w.From)
	c.level += w.Weight
	c.open = append(c.open, w)
	for i := len(c.open) - 1; i > 0 && c.open[i].To < c.open[(i-1)/2].To; i = (i - 1) / 2 {
		c.open[i], c.open[(i-1)/2] = c.open[(i-1)/2], c.open[i]
	}
}

// Sum is the integral over all intervals that were added.
func (c *Capped) Sum() float64 {
	c.closeUntil(1<<63 - 1)
	return c.sum
}

// closeUntil ends the intervals that end at an instant or before it.
func (c *Capped) closeUntil(at int64) {
	for len(c.open) > 0 && c.open[0].To <= at {
		c.pass(c.open[0].To)
		c.level -= c.open[0].Weight
		last := len(c.open) - 1
		c.open[0] = c.open[last]
		c.open = c.open[:last]
		if last == 0 {
			c.level = 0 // not what rounding left of it
		}
		for i := 0; ; {
			first := i
			for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
				if c.open[child].To < c.open[first].To {
					first = child
				}
			}
			if first == i {
				break
			}
			c.open[i], c.open[first] = c.open[first], c.open[i]
			i = first
		}
	}
}

// pass goes on to an instant.
func (c *Capped) pass(at int64) {
	if c.level > 0 {
		c.sum += min(c.level, c.Limit) * float64(at-c.now)
	}
	c.now = at
}

// Quantile is the value at share q (0 to 1) of sorted values, interpolated linearly between neighbours; 0 without values.
func Quantile[T ~int64 | ~float64](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := min(max(int(at), 0), len(sorted)-1)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + T(float64(sorted[high]-sorted[low])*(at-float64(low)))
}
