package report

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
)

// tracedOf chooses the traces whose operators are summed, and says of what they are where no step was traced whole: long steps end a
// window within one. What was traced before the first step and after the last one then is no part of them.
func (b *Builder) tracedOf(traces []*model.Trace) ([]*model.Trace, string) {
	p := account.Driver(b.S)
	if b.merged != nil || p == nil || len(p.Steps) == 0 || slices.ContainsFunc(p.Steps, wholeTraced) {
		return traces, ""
	}
	within := make([]*model.Trace, 0, len(traces))
	for _, t := range traces {
		if t.Process < 0 || t.Window < 0 {
			return traces, "" // the program's own
		}
		q := b.S.Processes[t.Process]
		w := &q.Windows[t.Window]
		if slices.ContainsFunc(q.Steps, func(st model.Step) bool { return st.Start < w.End && w.Start < st.End }) {
			within = append(within, t)
		}
	}
	if len(within) == 0 {
		return traces, "traced outside of the steps, none of which was traced"
	}
	return within, "of a part of a step, none was traced whole"
}

func wholeTraced(st model.Step) bool {
	return st.Phase == model.PhaseTrace || st.Phase == model.PhaseDetail
}
