package replay

import (
	"cmp"
	"slices"
	"sort"

	"bottleneck/internal/model"
)

// minGap is the shortest gap of the driving thread in which another thread can have worked for it.
const minGap = 20_000

// burstGap is the longest gap within what another thread does in one go.
const burstGap = 100_000

// mark is an instant of a lane at which its nodes are cut.
type mark struct {
	at   model.Time
	kind markKind
	pair int32 // index in builder.bursts or builder.steps
}

type markKind uint8

// Kinds of marks, in the order in which they apply at one instant.
const (
	markBurstEnd markKind = iota // on the working thread: its share is done
	markJoin                     // on the waiting thread: it goes on
	markStep                     // a step begins or ends
	markFork                     // on the waiting thread: it has handed over
	markBegin                    // on the working thread: it is given work
)

// burst is what one thread does in one go, for another one that waits or beside it.
type burst struct {
	lane        model.LaneID
	from, to    model.Time
	joined      bool  // the driving thread waits for it
	begin, last int32 // nodes on the working thread
	fork, join  int32 // nodes on the driving thread
}

// activity lists the outermost operators, runtime calls and DataLoader waits of a thread, as stretches that do not overlap.
func (b *builder) activity(lane model.LaneID) []stretch {
	ev := &b.t.Events
	var out []stretch
	end := model.Time(-1 << 62)
	for id := b.first[lane]; id < b.end[lane]; id++ {
		if !b.active(id) {
			continue
		}
		switch from, to := ev.Start[id], ev.End(id); {
		case from >= end:
			out = append(out, stretch{from, to})
			end = to
		case to > end:
			out[len(out)-1].to, end = to, to
		}
	}
	return out
}

// stretch is a half-open interval.
type stretch struct{ from, to model.Time }

// active says that an event is something that a thread does, not a name for it.
func (b *builder) active(id model.EventID) bool {
	switch ev := &b.t.Events; ev.Kind[id] {
	case model.KindOp, model.KindRuntime:
		return b.kept(id)
	case model.KindAnnotation:
		return b.names.note(ev.Name[id]) == noteInput && b.kept(id)
	}
	return false
}

// driver picks the thread that drives the steps: the one that holds most of their annotations, else the busiest.
func (b *builder) driver() model.LaneID {
	best, most := model.NoLane, model.Dur(-1)
	ev := &b.t.Events
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		if l.Kind != model.LaneThread {
			continue
		}
		var weight model.Dur
		for _, s := range b.acts[i] {
			weight += s.to.Sub(s.from)
		}
		for id := l.FirstEvent; id < l.EndEvent; id++ {
			if ev.Kind[id] == model.KindAnnotation && b.names.note(ev.Name[id]) == noteStep {
				weight += 1 << 50
			}
		}
		if weight > most && len(b.acts[i]) > 0 {
			best, most = model.LaneID(i), weight
		}
	}
	return best
}

// findBursts cuts what other threads do into bursts. In a gap of the driving thread of which another thread is busy for half
// or more, the driver waits for that thread; all other bursts run beside it.
func (b *builder) findBursts() {
	var gaps []stretch
	if b.main != model.NoLane {
		acts := b.acts[b.main]
		for i := 1; i < len(acts); i++ {
			if acts[i].from.Sub(acts[i-1].to) >= minGap {
				gaps = append(gaps, stretch{acts[i-1].to, acts[i].from})
			}
		}
	}
	best := make([]int, len(gaps)) // burst that the driver waits for
	busy := make([]model.Dur, len(gaps))
	for i := range best {
		best[i] = -1
	}
	for i := range b.acts {
		if model.LaneID(i) == b.main {
			continue
		}
		acts := b.acts[i]
		if len(acts) == 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(gaps, acts[0].from+1, func(g stretch, t model.Time) int { return cmp.Compare(g.to, t) })
		for j := 0; j < len(acts); {
			for k < len(gaps) && gaps[k].to <= acts[j].from {
				k++
			}
			inGap := k < len(gaps) && gaps[k].from <= acts[j].from && acts[j].to <= gaps[k].to
			n, sum := j+1, acts[j].to.Sub(acts[j].from)
			for n < len(acts) {
				if inGap && acts[n].to > gaps[k].to || !inGap && acts[n].from.Sub(acts[n-1].to) > burstGap {
					break
				}
				sum += acts[n].to.Sub(acts[n].from)
				n++
			}
			b.bursts = append(b.bursts, burst{lane: model.LaneID(i), from: acts[j].from, to: acts[n-1].to, begin: -1,
				last: -1, fork: -1, join: -1})
			if inGap && sum > busy[k] && 2*sum >= gaps[k].to.Sub(gaps[k].from) {
				best[k], busy[k] = len(b.bursts)-1, sum
			}
			j = n
		}
	}
	for _, i := range best {
		if i >= 0 {
			b.bursts[i].joined = true
		}
	}
}

// marksOf are the instants at which a thread's nodes are cut, in order.
func (b *builder) marksOf(lane model.LaneID) []mark {
	var out []mark
	from, to := 0, len(b.bursts)
	if lane != b.main { // its own alone, which stand together: a trace can have very many threads
		from = sort.Search(len(b.bursts), func(i int) bool { return b.bursts[i].lane >= lane })
		to = sort.Search(len(b.bursts), func(i int) bool { return b.bursts[i].lane > lane })
	}
	for i := from; i < to; i++ {
		u := &b.bursts[i]
		if u.lane == lane {
			out = append(out, mark{u.from, markBegin, int32(i)}, mark{u.to, markBurstEnd, int32(i)})
		} else if lane == b.main && u.joined {
			out = append(out, mark{u.from, markFork, int32(i)}, mark{u.to, markJoin, int32(i)})
		}
	}
	if lane == b.main {
		for i, s := range b.steps {
			out = append(out, mark{s.Start, markStep, int32(2 * i)}, mark{s.End, markStep, int32(2*i + 1)})
		}
	}
	slices.SortStableFunc(out, func(x, y mark) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind)) })
	return out
}

// linkBursts lets bursts wait for what gave them work, and the driver for those that it joins.
func (b *builder) linkBursts() {
	var outside []int32 // bursts that a request from outside began
	givers, requests := b.givers(), b.requests()
	for i := range b.bursts {
		u := &b.bursts[i]
		if u.joined {
			b.g.wait(u.begin, u.fork, 0, false)
			b.g.wait(u.join, u.last, 0, false)
			continue
		}
		giver := givers[i]
		late := b.at(u.from)
		if giver >= 0 {
			late -= b.g.traced(giver)
		}
		if late <= longLag {
			b.g.wait(u.begin, giver, 0, false)
		} else if row := b.endedBefore(u.from, late); row >= 0 {
			b.g.wait(u.begin, row, 0, false)
		} else if n, _ := slices.BinarySearch(requests, u.from+1); n > 0 && 4*int64(u.from.Sub(requests[n-1])) <= late {
			u.from = requests[n-1]
			outside = append(outside, int32(i))
		} else {
			b.g.wait(u.begin, giver, 0, false)
		}
	}
	b.arrivals(outside)
}

// givers are, by burst, the nodes of other threads that ended last before it, -1 where there is none: whichever thread did
// something last gave it its work. Bursts that the driver waits for have none.
func (b *builder) givers() []int32 {
	out := fill(len(b.bursts), -1)
	var order []int32
	for i := range b.bursts {
		if !b.bursts[i].joined {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(b.bursts[x].from, b.bursts[y].from) })
	var threads []lane // what of them is left to come
	for _, l := range b.g.lanes {
		if l.trace == b.index && l.id != model.NoLane && b.t.Lanes[l.id].Kind == model.LaneThread {
			threads = append(threads, l)
		}
	}
	ended := fill(len(threads), -1)
	for _, i := range order {
		at := b.at(b.bursts[i].from)
		for k := range threads {
			l := &threads[k]
			for l.first < l.end && b.g.traced(l.first) < at {
				ended[k] = l.first
				l.first++
			}
			if n := ended[k]; n >= 0 && l.id != b.bursts[i].lane && (out[i] < 0 || b.g.traced(n) >= b.g.traced(out[i])) {
				out[i] = n
			}
		}
	}
	return out
}

// requests are the instants at which a thread entered an outermost annotation that is neither a step nor a wait for data.
func (b *builder) requests() []model.Time {
	ev := &b.t.Events
	var out []model.Time
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindAnnotation && ev.Parent[i] == model.NoEvent && b.names.note(ev.Name[i]) == noteOther {
			out = append(out, ev.Start[i])
		}
	}
	slices.Sort(out)
	return out
}

// arrivals lets bursts begin no earlier than what came from outside, which no change of the program moves.
func (b *builder) arrivals(bursts []int32) {
	begins := make([]int32, len(bursts))
	for k, i := range bursts {
		begins[k] = b.bursts[i].begin
	}
	b.holdBack(begins, func(k int, held int32) node {
		from := b.at(b.bursts[bursts[k]].from)
		return node{at: from, dur: b.g.nodes[held].at - from, kind: Host}
	})
}

// endedBefore is the device work whose end can have woken a thread that was late by so much: a quarter of it before at most.
func (b *builder) endedBefore(at model.Time, late int64) int32 {
	ev := &b.t.Events
	n, _ := slices.BinarySearchFunc(b.rows, at+1, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t) })
	if n == 0 || 4*int64(at.Sub(ev.End(b.rows[n-1]))) > late {
		return -1
	}
	return b.nodeOf[b.rows[n-1]]
}
