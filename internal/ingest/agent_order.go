package ingest

import (
	"bottleneck/internal/model"
	"cmp"
	"slices"
)

// earlierSpan orders by start, the longer first.
func earlierSpan(x, y model.Span) int {
	if x.Start != y.Start {
		return cmp.Compare(x.Start, y.Start)
	}
	return cmp.Compare(y.End, x.End)
}

// orderSteps sorts and drops steps that overlap the one before them, which only damage or two drivers at once can cause.
func (a *agentRows) orderSteps() {
	slices.SortStableFunc(a.p.Steps, func(x, y model.Step) int { return cmp.Compare(x.Start, y.Start) })
	kept := a.p.Steps[:0]
	for _, step := range a.p.Steps {
		if step.End < step.Start || len(kept) > 0 && step.Start < kept[len(kept)-1].End {
			a.bad++
			continue
		}
		kept = append(kept, step)
	}
	countSkipped(kept)
	ofStepsAlone(kept)
	a.p.Steps = kept
}

// orderSamples sorts the columns by time; the agent writes them nearly in order.
func (a *agentRows) orderSamples() {
	s := &a.p.Samples
	if slices.IsSorted(s.Time) {
		return
	}
	order := make([]int, s.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(s.Time[x], s.Time[y]) })
	sorted := model.Samples{Stacks: s.Stacks}
	for _, i := range order {
		sorted.Time, sorted.Thread = append(sorted.Time, s.Time[i]), append(sorted.Thread, s.Thread[i])
		sorted.Stack, sorted.State, sorted.Flags = append(sorted.Stack, s.Stack[i]), append(sorted.State, s.State[i]),
			append(sorted.Flags, s.Flags[i])
	}
	*s = sorted
}
