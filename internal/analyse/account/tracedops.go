package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// EachTracedOp calls f for the operators of the accounted thread that begin in its traced steps, enclosing ones before those that they
// enclose (outer: no other operator encloses it), and gives the number of those steps; without steps, of the traced stretches.
func EachTracedOp(s *model.Session, b *Breakdown, f func(ev *model.Events, id model.EventID, outer bool)) int {
	return eachOpOf(TracedSteps(s, b), b, f)
}

// EachSeenOp is EachTracedOp for steps that may be longer than a trace: where none was traced whole it takes the parts that were.
func EachSeenOp(s *model.Session, b *Breakdown, f func(ev *model.Events, id model.EventID, outer bool)) (n int, parts bool) {
	list, parts := tracedOrParts(s, b)
	return eachOpOf(list, b, f), parts
}

func eachOpOf(list []TracedStep, b *Breakdown, f func(ev *model.Events, id model.EventID, outer bool)) int {
	n := 0
	for _, st := range list {
		if st.EachOp(b.Thread, f) {
			n++
		}
	}
	return n
}

// EachOp calls f for the operators of a thread that begin in the step, as EachTracedOp says; false where the trace lacks the thread.
func (st *TracedStep) EachOp(thread int, f func(ev *model.Events, id model.EventID, outer bool)) bool {
	until := model.Time(0)
	return st.EachRow(thread, func(ev *model.Events, id model.EventID) bool {
		if ev.Kind[id] == model.KindOp {
			outer := ev.Start[id] >= until
			if outer {
				until = ev.End(id)
			}
			f(ev, id, outer)
		}
		return true
	})
}

// EachRow calls f for the rows of a native thread that begin in the step, in their order, until it says no; false where the trace lacks the
// thread.
func (st *TracedStep) EachRow(thread int, f func(ev *model.Events, id model.EventID) bool) bool {
	lane := laneOf(st.Trace, thread)
	if lane >= 0 {
		st.eachRow(lane, f)
	}
	return lane >= 0
}

// EachKernel calls f for the kernels, collectives left out, that were launched in the step, by whatever thread, with their launching calls.
func (st *TracedStep) EachKernel(classes *naming.KernelClasses, f func(ev *model.Events, id, call model.EventID)) {
	ev := &st.Trace.Events
	for i := range st.Trace.Lanes {
		first, end := laneEvents(st.Trace, model.LaneID(i))
		for id := model.EventID(first); int(id) < end; id++ {
			call := ev.Link[id]
			if ev.Kind[id].Device() && call != model.NoEvent && ev.Start[call] >= st.Start && ev.Start[call] < st.End &&
				classes.Of(ev, id).Compute() {
				f(ev, id, call)
			}
		}
	}
}

// EachPass calls f for the outermost operators of backward passes that begin in the step, on whatever thread: autograd goes backward for a
// device on threads of its own.
func (st *TracedStep) EachPass(texts *model.Strings, f func(ev *model.Events, id model.EventID)) {
	for i := range st.Trace.Lanes {
		until := model.Time(0)
		st.eachRow(model.LaneID(i), func(ev *model.Events, id model.EventID) bool {
			if ev.Kind[id] == model.KindOp && ev.Start[id] >= until && naming.IsBackward(texts.Text(ev.Name[id])) {
				until = ev.End(id)
				f(ev, id)
			}
			return true
		})
	}
}

// eachRow calls f for the rows of a lane that begin in the step, in their order, until it says no.
func (st *TracedStep) eachRow(lane model.LaneID, f func(ev *model.Events, id model.EventID) bool) {
	ev := &st.Trace.Events
	first, end := laneEvents(st.Trace, lane)
	skip, _ := slices.BinarySearchFunc(ev.Start[first:end], st.Start, func(x, y model.Time) int { return cmp.Compare(x, y) })
	for i := first + skip; i < end && ev.Start[i] < st.End; i++ {
		if !f(ev, model.EventID(i)) {
			return
		}
	}
}
