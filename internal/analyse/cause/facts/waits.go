package facts

import (
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
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
