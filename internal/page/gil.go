package page

import (
	"cmp"

	"bottleneck/internal/model"
)

// gilWait is how the timeline calls a thread's waiting for the GIL.
const gilWait = "wait for the GIL"

// gil adds who held a process's GIL, and below it which threads waited for it, as samples show it: a sample stands for the time until the
// process is looked at again.
func (t *timeline) gil(p *model.Process) {
	sm := &p.Samples
	var held, waits []box
	waiting := map[int32]int{} // the last box of each thread in waits
	last := int32(0)           // who held it last
	until := snapshotEnds(sm)
	names := map[int32][2]model.Str{}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.State), len(sm.Flags)) {
		thread, start, end := sm.Thread[i], sm.Time[i], until[i]
		holds := sm.Flags[i]&model.SampleHoldsGIL != 0
		if !holds && sm.State[i] != model.StateGILWait {
			continue
		}
		name, known := names[thread]
		if !known {
			of := threadName(t.s, p, thread)
			name = [2]model.Str{t.s.Strings.Intern(of + ": holds the GIL"), t.s.Strings.Intern(of + ": " + gilWait)}
			names[thread] = name
		}
		switch at, before := waiting[thread]; {
		case holds && len(held) > 0 && held[len(held)-1].end >= start && last == thread:
			held[len(held)-1].end = end
		case holds:
			if len(held) > 0 { // there is one holder at a time
				held[len(held)-1].end = min(held[len(held)-1].end, start)
			}
			held, last = append(held, box{start, end, name[0]}), thread
		case before && waits[at].end >= start:
			waits[at].end = end
		default:
			waiting[thread] = len(waits)
			waits = append(waits, box{start, end, name[1]})
		}
	}
	t.add(lane{Lane: Lane{Group: processName(p), Name: "GIL held", Kind: "process"}}, held)
	t.add(lane{Lane: Lane{Group: processName(p), Name: "GIL waited for", Kind: "process"}}, waits)
}

// snapshotEnds is until when each sample holds: to the process's next snapshot, but no longer than two periods, since nobody looked then.
func snapshotEnds(sm *model.Samples) []model.Time {
	hz := cmp.Or(sm.AchievedHz, sm.AskedHz, 100)
	period := model.Time(1e9 / hz)
	out := make([]model.Time, len(sm.Time))
	next, snapshot := model.Time(0), model.Time(0) // the first times of the snapshot after this one, and of this one
	for i := len(out) - 1; i >= 0; i-- {
		at := sm.Time[i]
		if i == len(out)-1 {
			next, snapshot = at+period, at
		} else if snapshot-at > period/4 {
			next, snapshot = snapshot, at
		}
		snapshot = min(snapshot, at)
		out[i] = min(next, at+2*period)
	}
	return out
}
