package rerun

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// Place is where one call of an operator ran: the one whose time is nearest to the median of all.
type Place struct {
	Us     float64  // that it took there
	Caller string   // the operator that called it; "" none did
	Before []Before // what its thread ran until then, in order; operators that others called are part of those
	// Gap is the time between the last of them and it.
	Gap Gap
	// Neighbours are the other processes of the program that computed meanwhile, each as the share of the time in which it did.
	Neighbours []float64
}

// Before is one call that ran before another.
type Before struct {
	Call Call
	Gap  Gap // since what ran before it
}

// Gap is time between two operators in which their thread ran other code, or slept, µs.
type Gap struct{ Busy, Asleep float64 }

// Call is an operator with its inputs.
type Call struct {
	Name                             string
	Shapes, Strides, Types, Concrete json.RawMessage
	Inside                           []Inner
}

// How far back a place reaches: caches hold no more than what ran since then, and a script stays one that can be read and run.
const (
	placeReach = model.Dur(150e6)
	placeCalls = 300
	placeText  = 1 << 20 // bytes of what its calls took
	placeLooks = 100_000 // events that are looked at for them
	placeDepth = 1000    // of calls that call each other

	mostNeighbours = 64
)

// early is added to how far a call is from the median, where its trace began too shortly before to say what ran until then.
const early = 1e12

// Gaps below this are not looked up among samples, which are some 10 ms apart.
const minSleep = model.Dur(1e6)

// placed finds for each operator the call whose time is nearest to its median, and what ran before that and beside it. Work on a device
// has no such place: its memory stays PyTorch's, and its clock starts with the kernel.
func placed(s *model.Session, ops []Op, c *Choice) {
	type call struct {
		median, off float64
		t           *model.Trace // nil: none found
		id          model.EventID
		inside      map[model.EventID][]model.EventID
	}
	at := map[opKey]*call{}
	for i := range ops {
		if ops[i].Device == "" {
			at[ops[i].key] = &call{median: ops[i].RecordedUs, off: math.Inf(1)}
		}
	}
	for _, t := range s.Traces {
		if !t.Features.Shapes || t.Features.Device {
			continue
		}
		wanted, inside := c.wanted(s, t), insideOf(s, t)
		for i := range t.Events.Len() {
			id := model.EventID(i)
			k, ok := keyOf(s, &t.Events, id, inside)
			nearest := at[k]
			if !ok || nearest == nil || wanted != nil && !wanted(id) {
				continue
			}
			off := math.Abs(float64(t.Events.Dur[i])/1e3 - nearest.median)
			if t.Events.Start[i] < t.From+model.Time(placeReach/3) {
				off += early
			}
			if off < nearest.off {
				nearest.off, nearest.t, nearest.id, nearest.inside = off, t, id, inside
			}
		}
	}
	for i := range ops {
		if one := at[ops[i].key]; one != nil && one.t != nil {
			ops[i].Place = placeOf(s, one.t, one.id, one.inside)
		}
	}
}

// placeOf is what ran on an operator's thread before it and in other processes beside it.
func placeOf(s *model.Session, t *model.Trace, id model.EventID, inside map[model.EventID][]model.EventID) *Place {
	ev := &t.Events
	p := &Place{Us: float64(ev.Dur[id]) / 1e3}
	callers := map[model.EventID]bool{}
	for up := ev.Parent[id]; up >= 0 && int(up) < ev.Len() && !callers[up] && len(callers) < placeDepth; up = ev.Parent[up] {
		if callers[up] = true; len(callers) == 1 && ev.Kind[up] == model.KindOp && pytorchs(s, ev, up) {
			p.Caller = s.Strings.Text(ev.Name[up])
		}
	}
	first, text, ids := model.EventID(0), 0, []model.EventID(nil)
	var lane *model.Lane
	if int(id) < len(ev.Lane) && int(ev.Lane[id]) < len(t.Lanes) {
		lane = &t.Lanes[ev.Lane[id]]
		first = lane.FirstEvent
	}
	from := ev.Start[id] - model.Time(placeReach)
	for i := id - 1; i >= max(first, id-placeLooks, 0) && len(ids) < placeCalls && ev.Start[i] >= from; i-- {
		k, ok := keyOf(s, ev, i, inside)
		if !ok || callers[i] || !outermost(s, ev, i, callers) || !name.MatchString(s.Strings.Text(k.name)) {
			continue
		}
		size := 0
		for _, str := range []model.Str{k.shapes, k.strides, k.types, k.concrete} {
			size += len(s.Strings.Text(str))
		}
		if text += size; size > maxList || text > placeText {
			break
		}
		ids = append(ids, i)
	}
	slices.Reverse(ids)
	var thread int64
	if lane != nil {
		thread = lane.Thread
	}
	end := max(from, t.From)
	if len(ids) == placeCalls {
		end = ev.Start[ids[0]]
	}
	began := end
	for _, i := range ids {
		d := ev.OpArgsOf(ev.Detail[i])
		p.Before = append(p.Before, Before{Call{s.Strings.Text(ev.Name[i]), list(s, d.Shapes), list(s, d.Strides), list(s, d.Types),
			list(s, d.Concrete), innerOf(s, ev, inside[i])}, gapOf(s, t, thread, end, ev.Start[i])})
		end = max(end, ev.End(i))
	}
	p.Gap = gapOf(s, t, thread, end, ev.Start[id])
	p.Neighbours = neighboursOf(s, t.Process, began, ev.End(id))
	return p
}

// pytorchs says that an event is an operator of PyTorch's own.
func pytorchs(s *model.Session, ev *model.Events, id model.EventID) bool {
	return strings.HasPrefix(s.Strings.Text(ev.Name[id]), "aten::")
}

// outermost says that no operator called this one, but for those that also called the operator whose place is looked for.
func outermost(s *model.Session, ev *model.Events, id model.EventID, callers map[model.EventID]bool) bool {
	for up, deep := ev.Parent[id], 0; up >= 0 && int(up) < ev.Len() && deep < placeDepth; up, deep = ev.Parent[up], deep+1 {
		if !callers[up] && ev.Kind[up] == model.KindOp && pytorchs(s, ev, up) {
			return false
		}
	}
	return true
}

// gapOf is a stretch of a thread without operators. It slept where most samples of it in that time say so.
func gapOf(s *model.Session, t *model.Trace, thread int64, from, to model.Time) Gap {
	us := float64(max(to-from, 0)) / 1e3
	if model.Dur(to-from) < minSleep || t.Process < 0 || t.Process >= len(s.Processes) {
		return Gap{Busy: us}
	}
	sm := &s.Processes[t.Process].Samples
	asleep, all := 0, 0
	for i := firstAt(sm, from); i < sm.Len() && sm.Time[i] < to; i++ {
		if int64(sm.Thread[i]) != thread || i >= len(sm.State) {
			continue
		}
		all++
		if sm.State[i] == model.StateBlocked || sm.State[i] == model.StateIdle {
			asleep++
		}
	}
	if 2*asleep > all {
		return Gap{Asleep: us}
	}
	return Gap{Busy: us}
}

// neighboursOf are the other processes that were at work on a CPU in a stretch of time: the share of it in which the busiest thread of each
// was, in tenths, most first.
func neighboursOf(s *model.Session, process int, from, to model.Time) (out []float64) {
	for i, p := range s.Processes {
		if i == process || process < 0 || p.Role == model.RoleLauncher {
			continue
		}
		sm := &p.Samples
		looks, busy := map[int32]int{}, map[int32]int{}
		for j := firstAt(sm, from); j < min(sm.Len(), len(sm.State)) && sm.Time[j] <= to; j++ {
			looks[sm.Thread[j]]++
			if sm.State[j] == model.StateCPU {
				busy[sm.Thread[j]]++
			}
		}
		most := 0.0
		for thread, n := range busy {
			most = max(most, float64(n)/float64(looks[thread]))
		}
		if share := math.Round(10*most) / 10; share > 0 {
			out = append(out, share)
		}
	}
	slices.SortFunc(out, func(x, y float64) int { return cmp.Compare(y, x) })
	return out[:min(len(out), mostNeighbours)]
}

// firstAt is the first sample at a time or later.
func firstAt(sm *model.Samples, at model.Time) int {
	i, _ := slices.BinarySearch(sm.Time, at)
	return i
}
