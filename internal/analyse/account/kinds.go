package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// KindOfStep sums a process's steps of one kind over the whole run, all phases.
type KindOfStep struct {
	Kind  model.Str
	Steps int
	Time  float64 // ns
}

// KindsOfSteps are a process's kinds of steps, the one with most time first.
func KindsOfSteps(p *model.Process) []KindOfStep {
	var out []KindOfStep
	for i := range p.Steps {
		st := &p.Steps[i]
		k := slices.IndexFunc(out, func(o KindOfStep) bool { return o.Kind == st.Kind })
		if k < 0 {
			k = len(out)
			out = append(out, KindOfStep{Kind: st.Kind})
		}
		out[k].Steps += st.Count()
		out[k].Time += float64(max(st.End-st.Start, 0))
	}
	slices.SortStableFunc(out, func(a, b KindOfStep) int { return cmp.Compare(b.Time, a.Time) })
	return out
}
