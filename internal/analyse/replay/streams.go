package replay

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// streamWait says that a stream had to wait, from a call on, for the work that another stream held when an event was recorded.
type streamWait struct {
	call   model.Time
	source model.EventID
}

// streamWaits finds stream waits in the rows of the device's collector: the last work launched into the recorded stream before the record.
func (b *builder) streamWaits() map[model.LaneID][]streamWait {
	ev := &b.t.Events
	type stream struct {
		device int32
		number int64
	}
	lanes, calls, syncs := map[stream]model.LaneID{}, map[int64]model.Time{}, []model.EventID{}
	for i := range b.t.Lanes {
		if l := &b.t.Lanes[i]; l.Kind == model.LaneStream {
			lanes[stream{l.Device, l.Stream}] = model.LaneID(i)
		}
	}
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindSync && ev.Detail[i] >= 0 && strings.HasPrefix(b.text(ev.Name[i]), "Stream Wait") {
			syncs = append(syncs, model.EventID(i))
		}
	}
	out := map[model.LaneID][]streamWait{}
	if len(syncs) == 0 {
		return b.guessedWaits()
	}
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindRuntime && ev.Detail[i] >= 0 {
			calls[ev.RuntimeDetails[ev.Detail[i]].Correlation] = ev.Start[i]
		}
	}
	launched := b.launchedByLane()
	for _, id := range syncs {
		d := ev.DeviceArgsOf(ev.Detail[id])
		device := b.t.Lanes[ev.Lane[id]].Device
		record, ok := calls[d.WaitCorrelation]
		waited, known := calls[ev.DeviceDetails[ev.Detail[id]].Correlation]
		from, has := lanes[stream{device, d.WaitStream}]
		to, target := lanes[stream{device, d.Stream}]
		if !ok || !known || !has || !target {
			continue
		}
		rows := launched[from]
		at, _ := slices.BinarySearchFunc(rows, record, func(id model.EventID, t model.Time) int {
			return cmp.Compare(ev.Start[ev.Link[id]], t)
		})
		if at > 0 {
			out[to] = append(out[to], streamWait{waited, rows[at-1]})
		}
	}
	for _, w := range out {
		slices.SortStableFunc(w, func(x, y streamWait) int { return cmp.Compare(x.call, y.call) })
	}
	return out
}

// launchedByLane lists the launched work of each stream by launch.
func (b *builder) launchedByLane() map[model.LaneID][]model.EventID {
	ev := &b.t.Events
	out := map[model.LaneID][]model.EventID{}
	for _, id := range b.rows {
		if ev.Link[id] != model.NoEvent {
			out[ev.Lane[id]] = append(out[ev.Lane[id]], id)
		}
	}
	for _, rows := range out {
		slices.SortFunc(rows, func(x, y model.EventID) int { return cmp.Compare(ev.Start[ev.Link[x]], ev.Start[ev.Link[y]]) })
	}
	return out
}

// guessedWaits reads stream waits off the threads' calls where the collector did not record them. A wait is for the event
// recorded last before it; its stream is that of the next launch, and what it waits for is the work launched last before the
// record into another stream.
func (b *builder) guessedWaits() map[model.LaneID][]streamWait {
	ev := &b.t.Events
	out := map[model.LaneID][]streamWait{}
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		if l.Kind != model.LaneThread {
			continue
		}
		var before, recorded []model.EventID // work launched last into each stream, now and when an event was recorded
		var asked []streamWait
		for id := l.FirstEvent; id < l.EndEvent; id++ {
			if ev.Kind[id] != model.KindRuntime {
				continue
			}
			if row := ev.Link[id]; row != model.NoEvent && ev.Kind[row].Device() {
				for _, w := range asked {
					w.source = model.NoEvent
					for _, r := range recorded {
						if ev.Lane[r] != ev.Lane[row] && (w.source == model.NoEvent || ev.Start[ev.Link[r]] > ev.Start[ev.Link[w.source]]) {
							w.source = r
						}
					}
					if w.source != model.NoEvent {
						out[ev.Lane[row]] = append(out[ev.Lane[row]], w)
					}
				}
				asked = asked[:0]
				before = lastOfStream(ev, before, row)
				continue
			}
			switch name := b.text(ev.Name[id]); {
			case strings.Contains(name, "EventRecord"):
				recorded = append(recorded[:0], before...)
			case strings.HasSuffix(name, "StreamWaitEvent"):
				asked = append(asked[:0], streamWait{call: ev.Start[id]})
			}
		}
	}
	for _, w := range out {
		slices.SortStableFunc(w, func(x, y streamWait) int { return cmp.Compare(x.call, y.call) })
	}
	return out
}

// lastOfStream replaces the work of the same stream in a list.
func lastOfStream(ev *model.Events, list []model.EventID, row model.EventID) []model.EventID {
	for i, r := range list {
		if ev.Lane[r] == ev.Lane[row] {
			list[i] = row
			return list
		}
	}
	return append(list, row)
}

// crossing is a wait of a piece of work for another stream.
type crossing struct {
	node   int32
	source model.EventID
	class  int
}

// Classes of waits for other streams, each with a lag of its own.
const (
	hopCollective = iota
	hopWork
	hopFreed // not stated by the trace
	numHops
)

// waitForStreams adds the waits of device work for other streams: those that the trace states or the calls show and, where
// work stands idle although launched and its stream free, the work of another stream that ended just before it began: an
// event that was not seen, or the device itself was full.
func (b *builder) waitForStreams(rows []deviceRow, l *lags) {
	waits := b.streamWaits()
	ev := &b.t.Events
	var found []crossing
	var hops [numHops][]int64
	var earlier []int32
	for i := range rows {
		r := &rows[i]
		c := crossing{node: r.start, source: model.NoEvent, class: hopWork}
		if b.g.nodes[r.node].kind == Communication {
			c.class = hopCollective
		}
		release := b.released(r, l)
		if launch := ev.Link[r.id]; launch != model.NoEvent {
			list := waits[ev.Lane[r.id]]
			n, _ := slices.BinarySearchFunc(list, ev.Start[launch]+1, func(w streamWait, t model.Time) int {
				return cmp.Compare(w.call, t)
			})
			if n > 0 && ev.End(list[n-1].source) <= ev.Start[r.id]+rounding {
				c.source = list[n-1].source
			}
		}
		if c.source == model.NoEvent || ev.Start[r.id].Sub(max(release, ev.End(c.source))) > longLag {
			if other := b.freed(r, int64(ev.Start[r.id].Sub(release))); other != model.NoEvent {
				c.source, c.class = other, hopFreed
			}
		}
		if c.source == model.NoEvent {
			if r.prev == model.NoEvent && ev.Link[r.id] != model.NoEvent && ev.Start[r.id].Sub(release) > longLag {
				earlier = append(earlier, r.start)
			}
			continue
		}
		found = append(found, c)
		if end := ev.End(c.source); end > release || c.class == hopFreed {
			hops[c.class] = append(hops[c.class], int64(ev.Start[r.id].Sub(end)))
		}
	}
	for i := range l.hop {
		l.hop[i] = max(min(median(hops[i], usualHop), longLag), -longLag)
	}
	for _, c := range found {
		b.g.wait(c.node, b.nodeOf[c.source], l.hop[c.class], false)
	}
	b.waitForEarlier(earlier)
}

// earlierName is the part for a device that was not yet done with, or not yet ready for, what is not recorded.
const earlierName = "device busy since before the recording"

// waitForEarlier lets the first work of streams begin no earlier than it did, where it came long after its launch though nothing recorded
// was in its way: the device was at work that was launched before the recording, or made ready. No change of what is recorded moves that.
func (b *builder) waitForEarlier(first []int32) {
	b.holdBack(first, func(_ int, held int32) node {
		from, to := b.at(b.t.From), b.g.nodes[held].at
		return node{at: min(from, to), dur: max(to-from, 0), kind: Other, cat: b.g.category(earlierName)}
	})
}

// released is when a piece of work could have begun by its launch and its own stream.
func (b *builder) released(r *deviceRow, l *lags) model.Time {
	ev := &b.t.Events
	release := model.Time(-1 << 62)
	if r.prev != model.NoEvent {
		release = ev.End(r.prev) + model.Time(l.gap(r.id, ev))
	}
	if launch := ev.Link[r.id]; launch != model.NoEvent {
		lag, fromStart := l.launch(launch, r.id, b)
		from := ev.End(launch)
		if fromStart {
			from = ev.Start[launch]
		} else if staged, ok := b.staged(launch); ok {
			from = ev.Start[launch] + staged
		}
		release = max(release, from+model.Time(lag))
	}
	return release
}

// freed is the work of another stream whose end, a quarter of the unexplained time away at most, let a piece of work begin. It
// may end a little later: a kernel's last blocks leave room for the next.
func (b *builder) freed(r *deviceRow, late int64) model.EventID {
	if late <= unexplained {
		return model.NoEvent
	}
	ev := &b.t.Events
	start, reach := ev.Start[r.id], model.Time(min(late/4, longLag))
	best := model.NoEvent
	at, _ := slices.BinarySearchFunc(b.rows, start-reach, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t) })
	for ; at < len(b.rows) && ev.End(b.rows[at]) <= start+reach; at++ {
		other := b.rows[at]
		if ev.Lane[other] == ev.Lane[r.id] || ev.Start[other] > start-reach && ev.End(other) > start {
			continue
		}
		if best == model.NoEvent || distance(ev.End(other), start) < distance(ev.End(best), start) {
			best = other
		}
	}
	return best
}

func distance(x, y model.Time) model.Time { return max(x-y, y-x) }
