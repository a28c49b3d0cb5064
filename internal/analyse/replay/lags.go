package replay

import (
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// lags are the constants between what releases device work and its start, measured on the trace at hand.
type lags struct {
	gaps     map[model.Str]int64 // by the name of the later work, between two pieces of queued work of a stream
	anyGap   int64
	launches map[launchKey]launchLag // by call and kind of work, on an idle stream
	hop      int64                   // from one stream to another
}

type launchKey struct {
	call model.Str
	kind model.Kind
}

// launchLag is from the end of the launching call, or from its start where that varies less.
type launchLag struct {
	lag   int64
	start bool
}

// Lags where the trace has too few examples, in ns: usual values of present devices.
const (
	usualLaunch = 5_000
	usualGap    = 1_000
	usualHop    = 2_000
	enough      = 3 // examples
)

func (b *builder) measureLags(rows []deviceRow) *lags {
	ev := &b.t.Events
	gaps, all := map[model.Str][]int64{}, []int64{}
	type delays struct{ end, start []int64 }
	launches := map[launchKey]*delays{}
	for i := range rows {
		r := &rows[i]
		launch := ev.Link[r.id]
		if r.prev != model.NoEvent && !r.after {
			queued := launch == model.NoEvent || ev.End(launch)+2*usualLaunch <= ev.End(r.prev)
			if gap := int64(ev.Start[r.id].Sub(ev.End(r.prev))); queued && gap < longLag {
				gaps[ev.Name[r.id]] = append(gaps[ev.Name[r.id]], gap)
				all = append(all, gap)
			}
			continue
		}
		if launch == model.NoEvent || !r.after {
			continue
		}
		key := launchKey{ev.Name[launch], ev.Kind[r.id]}
		d := launches[key]
		if d == nil {
			d = &delays{}
			launches[key] = d
		}
		if v := int64(ev.Start[r.id].Sub(ev.End(launch))); v < longLag {
			d.end = append(d.end, v)
			d.start = append(d.start, int64(ev.Start[r.id].Sub(ev.Start[launch])))
		}
	}
	out := &lags{gaps: map[model.Str]int64{}, anyGap: min(median(all, usualGap), unexplained), launches: map[launchKey]launchLag{}, hop: usualHop}
	for name, list := range gaps {
		if len(list) >= enough {
			out.gaps[name] = median(list, 0)
		}
	}
	for key, d := range launches {
		if len(d.end) >= enough {
			fromStart := spread(d.start) < spread(d.end)
			lag := median(d.end, 0)
			if fromStart {
				lag = median(d.start, 0)
			}
			out.launches[key] = launchLag{lag, fromStart}
		}
	}
	return out
}

// spread is the distance between the quartiles.
func spread(v []int64) int64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)*3/4] - s[len(s)/4]
}

func (l *lags) gap(id model.EventID, ev *model.Events) int64 {
	if v, ok := l.gaps[ev.Name[id]]; ok {
		return v
	}
	return l.anyGap
}

// launch is the lag of work after its launching call. A call that returned after the work had ended is counted from its start.
func (l *lags) launch(call, id model.EventID, b *builder) (lag int64, fromStart bool) {
	ev := &b.t.Events
	v, ok := l.launches[launchKey{ev.Name[call], ev.Kind[id]}]
	if !ok {
		v = launchLag{lag: usualLaunch}
	}
	if !v.start && (b.waits(call) || ev.Start[id] < ev.End(call)-model.Time(max(-v.lag, 0))-rounding) {
		return min(int64(ev.Start[id].Sub(ev.Start[call])), usualLaunch+max(v.lag, 0)), true
	}
	return v.lag, v.start
}

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
		return out
	}
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindRuntime && ev.Detail[i] >= 0 {
			calls[ev.RuntimeDetails[ev.Detail[i]].Correlation] = ev.Start[i]
		}
	}
	launched := b.launchedByLane()
	for _, id := range syncs {
		d := &ev.DeviceDetails[ev.Detail[id]]
		device := b.t.Lanes[ev.Lane[id]].Device
		record, ok := calls[d.WaitCorrelation]
		waited, known := calls[d.Correlation]
		from, has := lanes[stream{device, d.WaitStream}]
		to, target := lanes[stream{device, d.Stream}]
		if !ok || !known || !has || !target {
			continue
		}
		rows := launched[from]
		at, _ := slices.BinarySearchFunc(rows, record, func(id model.EventID, t model.Time) int { return int(ev.Start[ev.Link[id]] - t) })
		if at > 0 {
			out[to] = append(out[to], streamWait{waited, rows[at-1]})
		}
	}
	for _, w := range out {
		slices.SortStableFunc(w, func(x, y streamWait) int { return int(x.call - y.call) })
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
		slices.SortFunc(rows, func(x, y model.EventID) int { return int(ev.Start[ev.Link[x]] - ev.Start[ev.Link[y]]) })
	}
	return out
}

// waitForStreams adds the waits of a piece of work for other streams: those that the trace states and, where it stands idle
// although launched and its stream free, the work of another stream that ended just before it began.
func (b *builder) waitForStreams(start int32, r *deviceRow, waits map[model.LaneID][]streamWait, l *lags) {
	ev := &b.t.Events
	launch := ev.Link[r.id]
	release := model.Time(0)
	if r.prev != model.NoEvent {
		release = ev.End(r.prev) + model.Time(l.gap(r.id, ev))
	}
	if launch != model.NoEvent {
		list := waits[ev.Lane[r.id]]
		n, _ := slices.BinarySearchFunc(list, ev.Start[launch]+1, func(w streamWait, t model.Time) int { return int(w.call - t) })
		if n > 0 && ev.End(list[n-1].source) <= ev.Start[r.id]+rounding {
			b.g.wait(start, b.nodeOf[list[n-1].source], l.hop, false)
			release = max(release, ev.End(list[n-1].source)+model.Time(l.hop))
		}
		lag, fromStart := l.launch(launch, r.id, b)
		from := ev.End(launch)
		if fromStart {
			from = ev.Start[launch]
		}
		release = max(release, from+model.Time(lag))
	}
	if ev.Start[r.id].Sub(release) <= unexplained {
		return
	}
	at, _ := slices.BinarySearchFunc(b.rows, ev.Start[r.id]+1, func(id model.EventID, t model.Time) int { return int(ev.End(id) - t) })
	for i := at - 1; i >= 0 && ev.Start[r.id].Sub(ev.End(b.rows[i])) <= unexplained; i-- {
		if other := b.rows[i]; ev.Lane[other] != ev.Lane[r.id] && ev.Start[other] < ev.Start[r.id] {
			b.g.wait(start, b.nodeOf[other], l.hop, false)
			return
		}
	}
}
