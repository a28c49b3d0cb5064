package facts

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// SampledTime is the driving thread's time in ns from an instant until another at samples (given by their index) that hold: each
// stands for the time since the one before.
func (c *Facts) SampledTime(from, until model.Time, holds func(int) bool) float64 {
	const longest = 100_000_000 // ns: beyond it samples were lost
	sm := &c.P.Samples
	t, last := 0.0, model.Time(0)
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State)) {
		if int(sm.Thread[i]) != c.B.Thread || sm.Time[i] < from || sm.Time[i] >= until {
			continue
		}
		if last > 0 && holds(i) {
			t += float64(min(sm.Time[i]-last, longest))
		}
		last = sm.Time[i]
	}
	return t
}

// OwnCPU is the share of the machine that other programs left, 0..1.
func (c *Facts) OwnCPU() float64 {
	busy := c.S.Environment.OthersBusyCores
	if busy == nil || c.Cores <= 0 {
		return 1
	}
	return max(1-*busy/c.Cores, 0)
}

// OfRun makes the numbers of a finding whose exact spans may lie between steps as well: over the run, and spread over its steps.
func (c *Facts) OfRun(f *finding.Draft, t float64, row price.Row) {
	f.Run = f.By(row).Times(t)
	f.Step = f.Run.Scale(1 / float64(max(c.Steps, 1)))
	if c.Steady > 0 {
		f.Share = t / c.Steady
	}
}

// Compiling is the time in which torch.compile works, sorted.
func (c *Facts) Compiling() []times.Interval { return c.SpansOf(model.SpanCompile) }

// SpansOf are the process's stretches of these kinds, sorted and disjoint.
func (c *Facts) SpansOf(kinds ...model.SpanKind) []times.Interval {
	var out []times.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; slices.Contains(kinds, sp.Kind) && sp.End > sp.Start {
			out = append(out, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return Merged(out)
}

// ImportTime is the time in imports before an instant.
func (c *Facts) ImportTime(until model.Time) float64 {
	t := 0.0
	for _, iv := range c.Importing() {
		t += max(0, float64(min(iv.End, until)-iv.Start))
	}
	return t
}

// WarmSteps is the number of warm-up steps of the accounted kind.
func (c *Facts) WarmSteps() int {
	n := 0
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Phase == model.PhaseWarmup && st.Kind == c.B.Kind {
			n++
		}
	}
	return n
}

// Importing is the time in which modules are imported, sorted and disjoint.
func (c *Facts) Importing() []times.Interval { return account.Importing(c.P) }

// Merged joins stretches that overlap, sorted.
func Merged(list []times.Interval) []times.Interval {
	slices.SortFunc(list, func(a, b times.Interval) int { return cmp.Compare(a.Start, b.Start) })
	var out []times.Interval
	for _, iv := range list {
		if n := len(out); n > 0 && iv.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, iv.End)
		} else {
			out = append(out, iv)
		}
	}
	return out
}

// SavedShare is the part of the whole that a finding would save: of the steady run for what happens in steps, else of the run.
func SavedShare(c *Facts, f *finding.Finding) float64 {
	if f.OfRun || c.B.Total <= 0 {
		if c.Wall <= 0 {
			return 0
		}
		return f.Run.Mid / c.Wall
	}
	return f.Step.Mid / c.B.Mean()
}

// Compiles says that torch.compile has worked in the accounted process.
func (c *Facts) Compiles() bool {
	return c.P.Counters["graph_breaks"] > 0 || slices.ContainsFunc(c.P.Spans, func(sp model.Span) bool {
		return sp.Kind == model.SpanCompile
	})
}
