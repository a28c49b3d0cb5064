package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

const (
	// slack that clocks and rounding leave between the end of one piece of work and the start of the next.
	rounding = 2_000
	// longLag bounds what may count as a lag of one kind: longer ones are waits for something that the trace does not show.
	longLag = 100_000
	// unexplained is how long a stream must stand idle although its work was launched, before work of other streams that
	// ended just then is taken for the reason.
	unexplained = 10_000
)

// sortRows lists all device work by its end.
func (b *builder) sortRows() {
	ev := &b.t.Events
	for i := range b.t.Lanes {
		for id := b.first[i]; id < b.end[i]; id++ {
			if ev.Kind[id].Device() && b.kept(id) {
				b.rows = append(b.rows, id)
			}
		}
	}
	slices.SortFunc(b.rows, func(x, y model.EventID) int { return cmp.Compare(ev.End(x), ev.End(y)) })
}

// findAwaited finds the calls that waited for the device: synchronising calls and blocking copies during which the last
// work that they can have waited for ended.
func (b *builder) findAwaited() {
	ev := &b.t.Events
	plain := b.plainCalls()
	for id, class := range b.waitingCalls {
		row := ev.Link[id]
		if row != model.NoEvent && ev.Kind[row].Device() {
			if ev.Start[row] > ev.Start[id] && ev.Start[row] < ev.End(id) && b.idleSince(row, ev.Start[id]) {
				b.staging[id] = ev.Start[row] - ev.Start[id]
				b.flags[id] |= flagStaged
			}
			if class == callCopies && (!naming.IsPageable(b.text(ev.Name[row])) || ev.End(id) < ev.End(row)) {
				continue
			}
		} else if row = b.lastBefore(id); row == model.NoEvent {
			continue
		}
		if ev.End(row) > ev.Start[id] && ev.End(row) <= ev.End(id)+rounding {
			own, staged := b.staged(id)
			if !staged {
				own = plain[ev.Name[id]]
			}
			b.awaited[id] = awaited{row, own}
			b.flags[id] |= flagAwaited
		}
	}
}

// waitingCalls goes through the calls that wait for the device or copy.
func (b *builder) waitingCalls(yield func(model.EventID, callClass) bool) {
	ev := &b.t.Events
	for i := range b.t.Lanes {
		for id := b.first[i]; id < b.end[i]; id++ {
			if ev.Kind[id] != model.KindRuntime || !b.kept(id) {
				continue
			}
			if class := b.names.call(ev.Name[id]); (class == callBlocks || class == callCopies) && !yield(id, class) {
				return
			}
		}
	}
}

// staged is how long a copying call put data aside before the device began; false for other events, and for none.
func (b *builder) staged(id model.EventID) (model.Time, bool) {
	if id == model.NoEvent || b.flags[id]&flagStaged == 0 {
		return 0, false
	}
	return b.staging[id], true
}

// idleSince says that a stream had nothing left to do at an instant before a piece of its work.
func (b *builder) idleSince(row model.EventID, at model.Time) bool {
	ev := &b.t.Events
	for id := row - 1; id >= b.t.Lanes[ev.Lane[row]].FirstEvent; id-- {
		if ev.Kind[id].Device() {
			return ev.End(id) <= at
		}
	}
	return true
}

// waits says whether a call waited for the device.
func (b *builder) waits(id model.EventID) bool {
	return b.flags[id]&flagAwaited != 0
}

// lastBefore is the device work that ended last before a call did, of what had been launched before the call.
func (b *builder) lastBefore(call model.EventID) model.EventID {
	ev := &b.t.Events
	n, _ := slices.BinarySearchFunc(b.rows, ev.End(call)+1, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t) })
	for i := n - 1; i >= 0 && ev.End(b.rows[i]) > ev.Start[call]; i-- {
		if launch := ev.Link[b.rows[i]]; launch != model.NoEvent && ev.Start[launch] < ev.Start[call] {
			return b.rows[i]
		}
	}
	return model.NoEvent
}

// plainCalls is how long each waiting call takes when it need not wait, by name: the median of those during which no device
// work ended, at most 10 µs.
func (b *builder) plainCalls() map[model.Str]model.Time {
	ev := &b.t.Events
	lists := map[model.Str][]int64{}
	for id := range b.waitingCalls {
		if lists[ev.Name[id]] == nil {
			lists[ev.Name[id]] = []int64{}
		}
		if ev.Link[id] == model.NoEvent && b.lastBefore(id) == model.NoEvent {
			lists[ev.Name[id]] = append(lists[ev.Name[id]], int64(ev.Dur[id]))
		}
	}
	out := map[model.Str]model.Time{}
	for name, list := range lists {
		out[name] = model.Time(min(median(list, 5_000), 10_000))
	}
	return out
}

// median of values, which it sorts; otherwise where there are none.
func median(v []int64, otherwise int64) int64 {
	if len(v) == 0 {
		return otherwise
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// deviceRow is a piece of device work with what it may have waited for.
type deviceRow struct {
	id    model.EventID
	prev  model.EventID // last work of the stream that had ended, NoEvent: none
	node  int32
	start int32 // the node that waits: of its arrival, for a matched collective
	after bool  // its launch came when prev had ended
}

// device makes the nodes of all streams and what they wait for.
func (b *builder) device(groups map[model.EventID]int32) {
	rows := make([]deviceRow, 0, len(b.rows))
	for i := range b.t.Lanes {
		if b.t.Lanes[i].Kind == model.LaneThread {
			continue
		}
		rows = b.stream(model.LaneID(i), groups, rows)
	}
	lags := b.measureLags(rows)
	ev := &b.t.Events
	for i := range rows {
		r := &rows[i]
		r.start = r.node
		if n, ok := b.beginOf[r.id]; ok {
			r.start = n
		}
		if r.prev != model.NoEvent {
			b.g.wait(r.start, b.nodeOf[r.prev], lags.gap(r.id, ev), false)
		}
		if launch := ev.Link[r.id]; launch != model.NoEvent && b.nodeOf[launch] >= 0 {
			lag, fromStart := lags.launch(launch, r.id, b)
			from := b.nodeOf[launch]
			if _, staged := b.staged(launch); staged || fromStart {
				from = b.firstOf[launch]
			}
			b.g.wait(r.start, from, lag, fromStart)
		}
	}
	b.waitForStreams(rows, lags)
}

// stream makes the nodes of one stream.
func (b *builder) stream(lane model.LaneID, groups map[model.EventID]int32, rows []deviceRow) []deviceRow {
	ev := &b.t.Events
	number := int32(-1)
	var recent []model.EventID // the last 16
	for id := b.first[lane]; id < b.end[lane]; id++ {
		if !ev.Kind[id].Device() || !b.kept(id) {
			continue
		}
		if number < 0 {
			number = b.openLane(lane)
		}
		r := deviceRow{id: id, prev: model.NoEvent}
		for i := len(recent) - 1; i >= 0; i-- { // work of one stream may overlap: graphs, several hardware queues
			if p := recent[i]; ev.End(p) <= ev.Start[id]+rounding && (r.prev == model.NoEvent || ev.End(p) > ev.End(r.prev)) {
				r.prev = p
			}
		}
		if len(recent) == 16 {
			recent = append(recent[:0], recent[1:]...)
		}
		recent = append(recent, id)
		r.node = b.deviceNode(id, number, groups)
		b.nodeOf[id] = r.node
		if launch := ev.Link[id]; launch != model.NoEvent {
			r.after = r.prev == model.NoEvent || ev.End(r.prev) <= ev.Start[launch]
		}
		rows = append(rows, r)
		b.g.Works++
		if ev.Link[id] == model.NoEvent {
			b.g.Orphans++
		}
	}
	if number >= 0 {
		b.closeLane(number)
	}
	return rows
}

// deviceNode makes the node of a piece of device work; a collective that could be matched between ranks gets two: its
// arrival, and the transfer that begins when all have arrived.
func (b *builder) deviceNode(id model.EventID, number int32, groups map[model.EventID]int32) int32 {
	ev := &b.t.Events
	n := node{at: b.at(ev.Start[id]), dur: int64(max(ev.Dur[id], 0)), event: id, prev: -1, kind: Copy}
	if ev.Kind[id] == model.KindKernel {
		n.kind, n.cat = Compute, b.names.work(ev.Name[id])
		if b.g.categories[n.cat] == naming.ClassCommunication.String() {
			n.kind = Communication
		}
	}
	if _, ok := groups[id]; ok {
		arrival := b.g.add(node{at: n.at, event: id, prev: -1, kind: Begin})
		b.beginOf[id] = arrival
		n.prev = arrival
	}
	return b.g.add(n)
}

// linkReturns lets calls that waited for the device go on when it was done.
func (b *builder) linkReturns() {
	ev := &b.t.Events
	delays := map[model.Str][]int64{}
	for _, r := range b.returns {
		d := int64(ev.End(r.call).Sub(ev.End(r.row)))
		delays[ev.Name[r.call]] = append(delays[ev.Name[r.call]], d)
	}
	lag := map[model.Str]int64{}
	for name, list := range delays {
		lag[name] = min(median(list, 0), longLag)
	}
	for _, r := range b.returns {
		b.g.wait(r.node, b.nodeOf[r.row], lag[ev.Name[r.call]], false)
	}
}
