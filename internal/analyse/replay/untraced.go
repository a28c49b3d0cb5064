package replay

import (
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Untraced compares unprofiled steps with traced ones from which the replay has taken what tracing cost. The cost of one recorded
// stretch is fitted on every other traced step, and Replayed is of the rest: none of them is used for both. Times are medians in ns.
type Untraced struct {
	Steps    int // traced steps, of both halves
	Baseline float64
	Traced   float64
	Replayed float64
	Cost     float64 // per recorded stretch, ns
	// Half is half of the 95 % interval of Replayed − Baseline by the spread of the steps, ns: within it the two cannot be told apart.
	Half float64
}

// Error is how far the replay is from the unprofiled steps, as a share of them.
func (u *Untraced) Error() float64 { return (u.Replayed - u.Baseline) / max(u.Baseline, 1) }

// minTracedSteps is how many traced steps are needed, half of them for the fit.
const minTracedSteps = 4

// maxStretchCost bounds the cost of one recorded stretch; PyTorch's profiler takes 0.3 to 0.8 µs per event.
const maxStretchCost = 2_000

// UntracedOf replays the traced steps of an account's process without the tracing cost; ok is false where too few steps were traced
// or none ran without the profiler.
func UntracedOf(s *model.Session, b *account.Breakdown) (u Untraced, ok bool) {
	if b == nil || !b.PerStep || b.Phase != model.PhaseBaseline {
		return u, false
	}
	var graphs []*Graph
	for _, t := range s.Traces {
		if t.Process < 0 || t.Process >= len(s.Processes) || s.Processes[t.Process] != b.Process {
			continue
		}
		if g := FromTrace(withSteps(t, b), s.Strings); g != nil {
			graphs = append(graphs, g)
		}
	}
	u.Baseline = b.Median
	all := untracedSteps(graphs, 0)
	u.Steps = len(all)
	if u.Steps < minTracedSteps {
		return u, false
	}
	u.Traced = medianOf(all)
	fit, _ := halves(all)
	low, high := 0.0, float64(maxStretchCost)
	if medianOf(fit) > u.Baseline {
		for range 20 {
			u.Cost = (low + high) / 2
			if fit, _ = halves(untracedSteps(graphs, u.Cost)); medianOf(fit) > u.Baseline {
				low = u.Cost
			} else {
				high = u.Cost
			}
		}
	}
	_, rest := halves(untracedSteps(graphs, u.Cost))
	u.Replayed = medianOf(rest)
	var plain []float64
	for _, w := range b.Windows {
		plain = append(plain, float64(w.End-w.Start))
	}
	u.Half = math.Hypot(medianHalf(plain), medianHalf(rest))
	return u, true
}

// Decided says whether the steps are even enough for an error of so much, as a share, to be seen.
func (u *Untraced) Decided(share float64) bool { return u.Half <= share*u.Baseline }

// medianHalf is half of the 95 % interval of a median by order statistics, of any distribution; of few values half of their range.
func medianHalf(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return math.Inf(1)
	}
	k := max(int((float64(n)-1.96*math.Sqrt(float64(n)))/2), 0)
	return (s[n-1-k] - s[k]) / 2
}

// withSteps is a trace with the steps that the agent saw in it; those with shapes cost more and are left out.
func withSteps(t *model.Trace, b *account.Breakdown) *model.Trace {
	c := *t
	c.Steps = nil
	for i := range b.Process.Steps {
		st := &b.Process.Steps[i]
		if st.Phase == model.PhaseTrace && st.Kind == b.Kind && 2*(min(st.End, t.To)-max(st.Start, t.From)) > st.End-st.Start {
			c.Steps = append(c.Steps, model.TraceStep{Number: st.Number, Start: st.Start, End: st.End, Source: st.Source})
		}
	}
	return &c
}

// untracedSteps replays all graphs with so much less time per recorded stretch of a thread, and lists their steps.
func untracedSteps(graphs []*Graph, cost float64) []float64 {
	var out []float64
	for _, g := range graphs {
		dur := g.recorded()
		for i := range dur {
			if k := g.nodes[i].kind; k == Op || k == Call || k == Host || k == Alloc {
				dur[i] = max(dur[i]-int64(cost), 0)
			}
		}
		if len(g.traces[0].Steps) == 0 {
			continue
		}
		for _, st := range g.Steps(g.run(dur, Change{})) {
			out = append(out, float64(st.Replayed))
		}
	}
	return out
}

// halves splits a list into its elements of even and of odd index.
func halves(v []float64) (even, odd []float64) {
	for i, x := range v {
		if i%2 == 0 {
			even = append(even, x)
		} else {
			odd = append(odd, x)
		}
	}
	return even, odd
}

func medianOf(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return stats.Quantile(s, 0.5)
}
