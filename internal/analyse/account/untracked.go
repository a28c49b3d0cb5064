package account

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Untracked is what the driving thread computed in traced training steps without a gradient ever needing it.
type Untracked struct {
	Steps []times.Interval // traced steps in which a backward pass ran; sorted, disjoint
	// Runs are stretches in them from the first to the last of consecutive outermost operators of which no backward pass used
	// the result and which neither an optimizer nor a DataLoader called; sorted, disjoint.
	Runs []times.Interval
	// Judged are those of Runs in which a loss was computed: what a model answers is compared there with what is right.
	Judged []times.Interval
	// Tracked and Apart are the numbers of outermost operators whose results backward passes used, and of those in Runs.
	Tracked, Apart int
}

// UntrackedWork finds it for the accounted process; nil where no traced step holds a backward pass.
func UntrackedWork(s *model.Session, b *Breakdown) *Untracked {
	u := &Untracked{}
	var tracked map[model.EventID]bool
	var of *model.Trace
	for _, st := range TracedSteps(s, b) {
		if lane := laneOf(st.Trace, b.Thread); lane >= 0 && b.PerStep {
			if of != st.Trace {
				of, tracked = st.Trace, trackedOps(st.Trace, lane, s.Strings)
			}
			u.step(st, b.Thread, tracked, s.Strings)
		}
	}
	if len(u.Steps) == 0 {
		return nil
	}
	for _, list := range [][]times.Interval{u.Steps, u.Runs, u.Judged} {
		slices.SortFunc(list, func(a, b times.Interval) int { return cmp.Compare(a.Start, b.Start) })
	}
	return u
}

// laneEvents are the first event of a lane and the one after its last.
func laneEvents(t *model.Trace, lane model.LaneID) (first, end int) {
	first, end = int(t.Lanes[lane].FirstEvent), int(t.Lanes[lane].EndEvent)
	if first < 0 || end > t.Events.Len() || first > end {
		return 0, 0
	}
	return first, end
}

// trackedOps are the operators of a lane, with all that enclose them, whose results backward passes went through. The operator
// that made a node of the graph is the last one that carries the node's number: others only saw the counter at that value.
func trackedOps(t *model.Trace, lane model.LaneID, s *model.Strings) map[model.EventID]bool {
	ev := &t.Events
	detail := func(i int) *model.OpDetail {
		if d := ev.Detail[i]; ev.Kind[i] == model.KindOp && d >= 0 && int(d) < len(ev.OpDetails) && ev.OpDetails[d].Sequence >= 0 {
			return &ev.OpDetails[d]
		}
		return nil
	}
	used := map[int64]bool{}
	for i := range ev.Len() {
		if d := detail(i); d != nil && naming.IsBackward(s.Text(ev.Name[i])) {
			used[d.Sequence] = true
		}
	}
	made := map[int64]model.EventID{}
	first, end := laneEvents(t, lane)
	for i := first; i < end; i++ {
		if d := detail(i); d != nil && d.FwdThread == 0 && used[d.Sequence] {
			made[d.Sequence] = model.EventID(i)
		}
	}
	out := map[model.EventID]bool{}
	for _, id := range made {
		for n := 0; id >= 0 && int(id) < ev.Len() && n < code.MaxStackDepth; n++ {
			out[id] = true
			id = ev.Parent[id]
		}
	}
	return out
}

// step adds the runs of one step. A step without any differentiated operator says nothing: inference, or a trace without numbers.
func (u *Untracked) step(st TracedStep, thread int, tracked map[model.EventID]bool, s *model.Strings) {
	var runs, judged []times.Interval
	run, differentiated, judges := times.Interval{}, false, false
	with, without := 0, 0
	finish := func() {
		if run.End > run.Start {
			runs = append(runs, run)
			if judges {
				judged = append(judged, run)
			}
		}
		run, judges = times.Interval{}, false
	}
	st.EachOp(thread, func(ev *model.Events, id model.EventID, outer bool) {
		if !outer {
			return
		}
		differentiated = differentiated || tracked[id]
		if tracked[id] {
			with++
		}
		if tracked[id] || naming.IsBackward(s.Text(ev.Name[id])) || neededAround(ev, id, s) {
			finish()
			return
		}
		if run.End == 0 {
			run.Start = ev.Start[id]
		}
		run.End = ev.End(id)
		without++
		judges = judges || isLoss(s.Text(ev.Name[id]))
	})
	finish()
	if differentiated {
		u.Steps = append(u.Steps, st.Interval)
		u.Runs = append(u.Runs, runs...)
		u.Judged = append(u.Judged, judged...)
		u.Tracked, u.Apart = u.Tracked+with, u.Apart+without
	}
}

// isLoss says that an operator compares predictions with what is right: PyTorch's loss functions.
func isLoss(name string) bool {
	return strings.Contains(name, "_loss") || strings.HasPrefix(name, "aten::binary_cross_entropy") || name == "aten::kl_div"
}

// neededAround says that an annotation of an optimizer or of a DataLoader encloses the operator.
func neededAround(ev *model.Events, id model.EventID, s *model.Strings) bool {
	for p, n := ev.Parent[id], 0; p >= 0 && int(p) < ev.Len() && n < 200; p, n = ev.Parent[p], n+1 {
		if ev.Kind[p] != model.KindAnnotation {
			continue
		}
		if name := s.Text(ev.Name[p]); strings.HasPrefix(name, "Optimizer.") || strings.HasPrefix(name, "enumerate(DataLoader)") {
			return true
		}
	}
	return false
}
