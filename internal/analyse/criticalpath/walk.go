package criticalpath

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// streamWait says that a stream had to wait, from a call on, for the work that another stream held when an event was recorded.
type streamWait struct {
	call   model.Time    // when the waiting was asked for
	source model.EventID // the last work that was waited for
}

// handover is the shortest gap between a thread's operators in which it can have waited for another thread.
const handover = 100 * 1000

// maxHop is how long before a piece of work the work of another stream must have ended to be taken for its cause, where the
// trace has no events that say so.
const maxHop = 10 * 1000

// readWaits finds stream waits: the last work launched into the recorded stream before the record.
func (w *pathWalk) readWaits() {
	ev := &w.t.Events
	w.waits = map[model.LaneID][]streamWait{}
	if !slices.Contains(ev.Kind, model.KindSync) {
		return
	}
	type stream struct {
		device int32
		number int64
	}
	lanes := map[stream]model.LaneID{}
	launched := map[model.LaneID][]model.EventID{} // device rows of a stream by launch
	for _, lane := range w.streams {
		l := &w.t.Lanes[lane]
		lanes[stream{l.Device, l.Stream}] = lane
	}
	calls := map[int64]model.Time{}
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindRuntime {
			calls[ev.RuntimeDetails[ev.Detail[i]].Correlation] = ev.Start[i]
		}
	}
	for _, id := range w.byEnd {
		if ev.Link[id] != model.NoEvent {
			launched[ev.Lane[id]] = append(launched[ev.Lane[id]], id)
		}
	}
	for lane, rows := range launched {
		slices.SortFunc(rows, func(a, b model.EventID) int { return cmp.Compare(ev.Start[ev.Link[a]], ev.Start[ev.Link[b]]) })
		launched[lane] = rows
	}
	for i := range ev.Len() {
		if ev.Kind[i] != model.KindSync || ev.Detail[i] < 0 || !strings.HasPrefix(w.s.Text(ev.Name[i]), "Stream Wait") {
			continue
		}
		d := ev.DeviceArgsOf(ev.Detail[i])
		record, ok := calls[d.WaitCorrelation]
		waited, known := calls[ev.DeviceDetails[ev.Detail[i]].Correlation]
		from, has := lanes[stream{w.t.Lanes[ev.Lane[i]].Device, d.WaitStream}]
		to, target := lanes[stream{w.t.Lanes[ev.Lane[i]].Device, d.Stream}]
		if !ok || !known || !has || !target {
			continue
		}
		rows := launched[from]
		at, _ := slices.BinarySearchFunc(rows, record, func(id model.EventID, t model.Time) int {
			return cmp.Compare(ev.Start[ev.Link[id]], t)
		})
		if at > 0 {
			w.waits[to] = append(w.waits[to], streamWait{waited, rows[at-1]})
		}
	}
}

// device goes back from an instant on a stream: over the work that runs then or ended last, to whatever it waited for.
func (w *pathWalk) device(lane model.LaneID, at model.Time) (model.LaneID, model.Time) {
	ev := &w.t.Events
	id := w.current(lane, at)
	w.row = model.NoEvent
	if id == model.NoEvent {
		return model.NoLane, at
	}
	if end := ev.End(id); end < at {
		w.put(KernelGap, end, at, lane, model.NoEvent)
		at = end
	}
	w.put(w.kind(id), ev.Start[id], at, lane, id)
	return w.before(id, min(at, ev.Start[id]))
}

// before goes back from the start of a piece of device work to whatever it waited for.
func (w *pathWalk) before(id model.EventID, at model.Time) (model.LaneID, model.Time) {
	ev := &w.t.Events
	lane := ev.Lane[id]
	launch := ev.Link[id]
	earlier := w.cause(id)
	if earlier != model.NoEvent && (launch == model.NoEvent || ev.Start[launch] <= ev.End(earlier)) {
		end := min(at, ev.End(earlier))
		w.put(KernelGap, end, at, lane, model.NoEvent)
		w.row = earlier
		return ev.Lane[earlier], end
	}
	if launch == model.NoEvent {
		return model.NoLane, at
	}
	// no launch takes that long: it waited for what the trace does not show
	if returned := ev.End(launch); at.Sub(returned) > device.LongDelay {
		w.put(Unknown, returned, at, lane, model.NoEvent)
		at = returned
	}
	called := min(at, ev.Start[launch])
	w.put(Launch, called, at, ev.Lane[launch], launch)
	return ev.Lane[launch], called
}

// current is the device row that a walk stands on.
func (w *pathWalk) current(lane model.LaneID, at model.Time) model.EventID {
	if w.row != model.NoEvent {
		return w.row
	}
	return w.lastOn(lane, at)
}

func (w *pathWalk) kind(id model.EventID) Kind {
	switch c := w.work[0].Classes.Of(&w.t.Events, id); {
	case c.Compute():
		return Compute
	case c == naming.ClassCommunication:
		return Communication
	}
	return Copy
}

// lastOn is the work on a stream that runs at an instant or ended last before it.
func (w *pathWalk) lastOn(lane model.LaneID, at model.Time) model.EventID {
	ev := &w.t.Events
	l := &w.t.Lanes[lane]
	for id := w.firstAfter(lane, at) - 1; id >= l.FirstEvent; id-- {
		if ev.Kind[id].Device() && ev.Start[id] < at {
			return id
		}
	}
	return model.NoEvent
}

// firstAfter is the first event of a lane that starts at or after an instant.
func (w *pathWalk) firstAfter(lane model.LaneID, at model.Time) model.EventID {
	l := &w.t.Lanes[lane]
	n, _ := slices.BinarySearch(w.t.Events.Start[l.FirstEvent:l.EndEvent], at)
	return l.FirstEvent + model.EventID(n)
}

// cause is the device work that ended last of what a piece of work had to wait for: the work before it on its stream, and
// what its stream was told to wait for. Where the trace has no such events, work of another stream that ended just before
// it counts, if the stream itself had been idle for longer than its own gaps last.
func (w *pathWalk) cause(id model.EventID) model.EventID {
	ev := &w.t.Events
	lane := ev.Lane[id]
	best := model.NoEvent
	for p := id - 1; p >= w.t.Lanes[lane].FirstEvent; p-- {
		if ev.Kind[p].Device() {
			best = p
			break
		}
	}
	launch := ev.Link[id]
	waits := w.waits[lane]
	if launch != model.NoEvent {
		for i := len(waits) - 1; i >= 0; i-- {
			if s := waits[i]; s.call <= ev.Start[launch] && ev.End(s.source) <= ev.Start[id] {
				if best == model.NoEvent || ev.End(s.source) > ev.End(best) {
					best = s.source
				}
				break
			}
		}
	}
	if len(w.waits) > 0 || best != model.NoEvent && ev.Start[id].Sub(ev.End(best)) <= device.OwnGap {
		return best
	}
	at, _ := slices.BinarySearchFunc(w.byEnd, ev.Start[id]+1, func(id model.EventID, t model.Time) int {
		return cmp.Compare(ev.End(id), t)
	})
	if at > 0 {
		if other := w.byEnd[at-1]; other != id && ev.Lane[other] != lane && ev.Start[id].Sub(ev.End(other)) <= maxHop &&
			ev.Start[other] < ev.Start[id] {
			return other
		}
	}
	return best
}

// thread goes back from an instant on a CPU thread, to the last call that waited for the device or the last gap in which
// it waited for another thread.
func (w *pathWalk) thread(lane model.LaneID, at model.Time) (model.LaneID, model.Time) {
	ev := &w.t.Events
	stop, call, row := w.lastWait(lane, at)
	tops := w.tops[lane]
	i, _ := slices.BinarySearchFunc(tops, at, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.Start[id], t) })
	for i--; at > stop; i-- {
		gapFrom := stop
		if i >= 0 {
			gapFrom = max(stop, min(at, ev.End(tops[i])))
		}
		if next, end, ok := w.other(lane, gapFrom, at); ok {
			w.put(Host, end, at, lane, model.NoEvent)
			return next, end
		}
		w.put(Host, gapFrom, at, lane, model.NoEvent)
		at = gapFrom
		if i < 0 || at <= stop {
			break
		}
		kind := Op
		if naming.IsDataLoader(w.s.Text(ev.Name[tops[i]])) {
			kind = Input
		}
		from := max(stop, ev.Start[tops[i]])
		w.put(kind, from, at, lane, tops[i])
		at = from
	}
	if row == model.NoEvent {
		return model.NoLane, at
	}
	end := min(at, ev.End(row))
	w.put(Sync, end, at, lane, call)
	w.row = row
	return ev.Lane[row], end
}

// lastWait is the last call before an instant that device work kept waiting: where it ended, the call and the work.
func (w *pathWalk) lastWait(lane model.LaneID, at model.Time) (model.Time, model.EventID, model.EventID) {
	ev := &w.t.Events
	calls := w.calls[lane]
	if calls == nil {
		calls = &device.LaunchLane{}
		if len(w.work) > 0 {
			calls = w.work[0].ReadLane(lane)
		}
		w.calls[lane] = calls
	}
	i, _ := slices.BinarySearchFunc(calls.Waits, at, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.Start[id], t) })
	for i--; i >= 0; i-- {
		call := calls.Waits[i]
		if ev.End(call) <= w.path.From {
			break
		}
		until := min(at, ev.End(call))
		n, _ := slices.BinarySearchFunc(w.byEnd, until+1, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t) })
		if n > 0 && ev.End(w.byEnd[n-1]) > ev.Start[call] && ev.End(w.byEnd[n-1]) < at {
			return until, call, w.byEnd[n-1]
		}
	}
	return w.path.From, model.NoEvent, model.NoEvent
}

// other finds the thread that a thread waited for in a gap between its operators: the one whose operator ended last in it.
// The driving thread waits only for a thread that was busy for half of the gap.
func (w *pathWalk) other(lane model.LaneID, from, to model.Time) (model.LaneID, model.Time, bool) {
	if to.Sub(from) < handover {
		return 0, 0, false
	}
	ev := &w.t.Events
	best, end := model.NoLane, from
	for candidate, tops := range w.tops {
		if candidate == lane || lane != w.main && candidate != w.main {
			continue
		}
		i, _ := slices.BinarySearchFunc(tops, to, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t+1) })
		last := i - 1
		if last < 0 || ev.End(tops[last]) < end || ev.End(tops[last]) <= from {
			continue
		}
		if lane == w.main {
			var busy model.Dur
			for j := last; j >= 0 && ev.End(tops[j]) > from; j-- {
				busy += ev.End(tops[j]).Sub(max(from, ev.Start[tops[j]]))
			}
			if busy < to.Sub(from)/2 {
				continue
			}
		}
		if e := ev.End(tops[last]); e > end || best == model.NoLane || candidate < best {
			best, end = candidate, e
		}
	}
	return best, end, best != model.NoLane
}
