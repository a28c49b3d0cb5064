package facts

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Outside are the samples of the driving thread after the first of some stretches and outside of all of them, sorted and disjoint; each
// stands for the time since the one before.
func (c *Facts) Outside(busy []times.Interval) (out []account.Attributed) {
	const longest = 100_000_000 // ns: beyond it samples were lost
	sm, last := &c.P.Samples, model.Time(0)
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		t := sm.Time[i]
		if int(sm.Thread[i]) != c.B.Thread || len(busy) == 0 || t < busy[0].Start {
			continue
		}
		since := float64(min(t-last, longest))
		if first := last == 0; !first && !Inside(busy, t) {
			out = append(out, account.Attributed{Index: i, Weight: since, Part: c.B.PartOf(c.C, i)})
		}
		last = t
	}
	return out
}

// StepsAndPauses are the stretches that are steps of chosen kinds, compilation, imports or the profiler's own pauses, sorted and disjoint;
// none without such a step.
func (c *Facts) StepsAndPauses(kind func(model.Str) bool) []times.Interval {
	var list []times.Interval
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.End > st.Start && kind(st.Kind) {
			list = append(list, times.Interval{Start: st.Start, End: st.End})
		}
	}
	if len(list) == 0 {
		return nil
	}
	first, last := list[0].Start, list[0].End
	for _, iv := range list {
		first, last = min(first, iv.Start), max(last, iv.End)
	}
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if k := sp.Kind; (k == model.SpanCompile || k == model.SpanImport || k == model.SpanProfiler) && sp.End > sp.Start &&
			sp.Start >= first && sp.End <= last {
			list = append(list, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return Merged(list)
}
