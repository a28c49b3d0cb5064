package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse"
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
		l := &b.t.Lanes[i]
		for id := l.FirstEvent; id < l.EndEvent; id++ {
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
	for i := range ev.Len() {
		id := model.EventID(i)
		if ev.Kind[i] != model.KindRuntime || !b.kept(id) {
			continue
		}
		class := b.names.call(ev.Name[i])
		if class != callBlocks && class != callCopies {
			continue
		}
		row := ev.Link[i]
		if row != model.NoEvent && ev.Kind[row].Device() {
			if ev.Start[row] > ev.Start[i] && ev.Start[row] < ev.End(id) && b.idleSince(row, ev.Start[i]) {
				b.staging[id] = ev.Start[row] - ev.Start[i]
			}
			if class == callCopies && (!analyse.IsPageable(b.text(ev.Name[row])) || ev.End(id) < ev.End(row)) {
				continue
			}
		} else if row = b.lastBefore(id); row == model.NoEvent {
			continue
		}
		if ev.End(row) > ev.Start[i] && ev.End(row) <= ev.End(id)+rounding {
			own, staged := b.staging[id]
			if !staged {
				own = plain[ev.Name[i]]
			}
			b.awaited[id] = awaited{row, own}
		}
	}
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
	_, ok := b.awaited[id]
	return ok
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
	for i := range ev.Len() {
		if ev.Kind[i] != model.KindRuntime || !b.kept(model.EventID(i)) {
			continue
		}
		if class := b.names.call(ev.Name[i]); class != callBlocks && class != callCopies {
			continue
		}
		if lists[ev.Name[i]] == nil {
			lists[ev.Name[i]] = []int64{}
		}
		if ev.Link[i] == model.NoEvent && b.lastBefore(model.EventID(i)) == model.NoEvent {
			lists[ev.Name[i]] = append(lists[ev.Name[i]], int64(ev.Dur[i]))
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
	var rows []deviceRow
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
			if _, staged := b.staging[launch]; staged || fromStart {
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
	l := &b.t.Lanes[lane]
	number := int32(-1)
	var recent []model.EventID
	for id := l.FirstEvent; id < l.EndEvent; id++ {
		if !ev.Kind[id].Device() || !b.kept(id) {
			continue
		}
		if number < 0 {
			number = b.openLane(lane)
		}
		r := deviceRow{id: id, prev: model.NoEvent}
		for i := len(recent) - 1; i >= 0 && i >= len(recent)-16; i-- { // work of one stream may overlap: graphs, several hardware queues
			if p := recent[i]; ev.End(p) <= ev.Start[id]+rounding && (r.prev == model.NoEvent || ev.End(p) > ev.End(r.prev)) {
				r.prev = p
			}
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
		if b.g.categories[n.cat] == analyse.ClassCommunication.String() {
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
