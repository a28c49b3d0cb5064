package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// EachTracedOp calls f for the operators of the accounted thread that begin in its traced steps, enclosing ones before those that they
// enclose (outer: no other operator encloses it), and gives the number of those steps; without steps, of the traced stretches.
func EachTracedOp(s *model.Session, b *Breakdown, f func(ev *model.Events, id model.EventID, outer bool)) int {
	n := 0
	for _, st := range TracedSteps(s, b) {
		if st.eachOp(b.Thread, f) {
			n++
		}
	}
	return n
}

// eachOp calls f for the operators of a thread that begin in the step, as EachTracedOp says; false where the trace lacks the thread.
func (st *TracedStep) eachOp(thread int, f func(ev *model.Events, id model.EventID, outer bool)) bool {
	lane := laneOf(st.Trace, thread)
	if lane < 0 {
		return false
	}
	ev, until := &st.Trace.Events, model.Time(0)
	first, end := laneEvents(st.Trace, lane)
	skip, _ := slices.BinarySearchFunc(ev.Start[first:end], st.Start, func(x, y model.Time) int { return cmp.Compare(x, y) })
	for i := first + skip; i < end && ev.Start[i] < st.End; i++ {
		if ev.Kind[i] == model.KindOp {
			outer := ev.Start[i] >= until
			if outer {
				until = ev.End(model.EventID(i))
			}
			f(ev, model.EventID(i), outer)
		}
	}
	return true
}
