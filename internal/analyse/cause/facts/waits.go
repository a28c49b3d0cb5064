package facts

import (
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"sort"
)

// Waits are the accounted thread's waits for data, sorted and disjoint.
func (c *Facts) Waits() []times.Interval {
	var out []times.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanDataWait && sp.Thread == c.B.Thread && sp.End > sp.Start {
			out = append(out, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return Merged(out)
}

// Overlap is how much of a stretch sorted and disjoint intervals cover, in ns.
func Overlap(list []times.Interval, from, to model.Time) float64 {
	t := 0.0
	for i := firstAfter(list, from); i < len(list) && list[i].Start < to; i++ {
		t += max(float64(min(list[i].End, to)-max(list[i].Start, from)), 0)
	}
	return t
}

// firstAfter is the index of the first interval that ends after an instant.
func firstAfter(list []times.Interval, t model.Time) int {
	return sort.Search(len(list), func(i int) bool { return list[i].End > t })
}
