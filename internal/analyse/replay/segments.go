package replay

import (
	"bottleneck/internal/model"
)

// emitter turns one thread's events into nodes: stretches between the beginnings and ends of its events, each of the
// innermost event.
type emitter struct {
	b       *builder
	lane    int32
	marks   []mark
	now     model.Time
	last    int32 // last node, -1
	waiting bool  // for another thread
	idle    bool  // not given any work
	stack   []open
}

type open struct {
	id    model.EventID
	end   model.Time
	input bool // it is, or lies in, a wait for data
}

// thread makes the nodes of a CPU thread.
func (b *builder) thread(lane model.LaneID) {
	acts := b.acts[lane]
	if len(acts) == 0 {
		return
	}
	e := &emitter{b: b, lane: b.openLane(lane), marks: b.marksOf(lane), now: acts[0].from, last: -1, idle: lane != b.main}
	if lane == b.main {
		for _, s := range b.steps {
			e.now = min(e.now, s.Start)
		}
	}
	ev := &b.t.Events
	for id := b.first[lane]; id < b.end[lane]; id++ {
		if !b.active(id) {
			continue
		}
		e.closeUntil(ev.Start[id])
		e.advance(ev.Start[id])
		if b.waits(id) {
			e.blocked(id)
			continue
		}
		end := ev.End(id)
		if n := len(e.stack); n > 0 {
			end = min(end, e.stack[n-1].end)
		}
		e.stack = append(e.stack, open{id, end, e.input() || b.names.note(ev.Name[id]) == noteInput})
		if staged, ok := b.staged(id); ok {
			e.advance(min(ev.Start[id]+staged, end))
		}
	}
	e.closeUntil(1 << 62)
	if lane == b.main {
		for _, m := range e.marks {
			e.advance(m.at)
		}
		e.apply(1 << 62)
	} else {
		e.apply(e.now)
	}
	b.closeLane(e.lane)
}

// input says that the thread is in a wait for data.
func (e *emitter) input() bool { return len(e.stack) > 0 && e.stack[len(e.stack)-1].input }

// closeUntil ends the open events that end before an instant.
func (e *emitter) closeUntil(at model.Time) {
	for n := len(e.stack); n > 0 && e.stack[n-1].end <= at; n = len(e.stack) {
		e.advance(e.stack[n-1].end)
		id := e.stack[n-1].id
		if e.b.t.Events.Kind[id] == model.KindRuntime {
			if e.b.firstOf[id] < 0 {
				e.put(e.now, 0) // a call too short to be measured still launches
			}
			e.b.nodeOf[id] = e.last
		}
		e.stack = e.stack[:n-1]
	}
}

// advance makes nodes up to an instant, cut at the marks.
func (e *emitter) advance(to model.Time) {
	for len(e.marks) > 0 && e.marks[0].at < to {
		e.put(e.marks[0].at, -1)
		e.apply(e.marks[0].at)
	}
	e.put(to, -1)
}

// put makes one node from now to an instant, as long as it lasts or, with least 0, even if it takes no time.
func (e *emitter) put(to model.Time, least int64) {
	if to <= e.now && least < 0 || e.waiting || e.idle {
		e.now = max(e.now, to)
		return
	}
	n := node{at: e.b.at(e.now), dur: max(int64(to.Sub(e.now)), 0), event: model.NoEvent, prev: e.last, kind: Host}
	if k := len(e.stack); k > 0 {
		n.event = e.stack[k-1].id
		n.kind, n.cat = e.b.hostKind(n.event)
		if e.input() {
			n.kind = Input
		}
	}
	e.last = e.b.g.add(n)
	for k := len(e.stack) - 1; k >= 0 && e.b.firstOf[e.stack[k].id] < 0; k-- {
		e.b.firstOf[e.stack[k].id] = e.last
	}
	e.now = max(e.now, to)
}

// apply handles the marks up to an instant.
func (e *emitter) apply(at model.Time) {
	for len(e.marks) > 0 && e.marks[0].at <= at {
		m := e.marks[0]
		e.marks = e.marks[1:]
		switch m.kind {
		case markStep:
			e.b.stepNode[m.pair] = e.last
		case markFork:
			e.waiting, e.b.bursts[m.pair].fork = true, e.last
		case markJoin:
			e.waiting = false
			e.last = e.b.g.add(node{at: e.b.at(m.at), event: model.NoEvent, prev: e.last, kind: Join})
			e.b.bursts[m.pair].join = e.last
		case markBegin:
			e.idle = false
			e.last = e.b.g.add(node{at: e.b.at(m.at), event: model.NoEvent, prev: e.last, kind: Begin})
			e.b.bursts[m.pair].begin = e.last
		case markBurstEnd:
			e.idle, e.b.bursts[m.pair].last = true, e.last
		}
	}
}

// blocked makes the two nodes of a call that waits for the device: its own work, and its return when the device is done.
func (e *emitter) blocked(id model.EventID) {
	ev := &e.b.t.Events
	e.apply(e.now) // marks at the very beginning
	row, own := e.b.awaited[id].row, e.b.awaited[id].own
	from := e.now
	end := max(ev.End(id), from)
	if n := len(e.stack); n > 0 {
		end = min(end, e.stack[n-1].end)
	}
	call := min(from+own, end)
	e.stack = append(e.stack, open{id, end, e.input()})
	e.put(call, 0)
	e.b.nodeOf[id] = e.last
	e.stack = e.stack[:len(e.stack)-1]
	for len(e.marks) > 0 && e.marks[0].at < end {
		e.apply(e.marks[0].at)
	}
	e.last = e.b.g.add(node{at: e.b.at(end), event: id, prev: e.last, kind: Return})
	e.b.returns = append(e.b.returns, returning{e.last, id, row})
	e.now = max(e.now, end)
}
