package device

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Causes of idle time of a device. The first four say what the host did instead of launching the work that ended the gap.
const (
	IdleInput  = "input"  // the launching thread was in a DataLoader
	IdleSync   = "sync"   // it had waited for the device, so nothing was queued
	IdleAlloc  = "alloc"  // it allocated or freed device memory
	IdleHost   = "host"   // it was not fast enough
	IdleLaunch = "launch" // the launch was under way: latency between the call's start and the work's
	IdleKernel = "kernel" // the work was queued in time: the device's own gap between two pieces
	IdleWait   = "wait"   // likewise, but longer than such a gap: it waited for another stream or an event
	// IdleUnknown is a gap before work whose launch is not in the trace.
	IdleUnknown = "unknown"
)

// OwnGap is the longest gap between two queued pieces of work that is taken for the device's own (HTA's threshold).
const OwnGap = 30 * 1000

// IdleCause is the idle time of a device that one cause at one place accounts for.
type IdleCause struct {
	Cause   string
	Where   code.Where
	Dur     model.Dur
	Gaps    int
	Longest model.Dur
	At      model.Time // start of the longest gap
}

// LaunchLane is what a launching thread's calls say, found as gaps go by in order of time.
type LaunchLane struct {
	Waits  []model.EventID // calls that wait for the device
	memory []model.EventID // calls that allocate or free
	inputs []model.EventID // DataLoader's __next__
	waited []model.Dur     // by number of a wait: how long it and those before it lasted
	used   [2]model.Dur    // by reader: how much of that gaps were charged with so far
}

// Readers of the gaps, each of which goes over them in order of time.
const (
	readIdle = iota
	readHostGaps
)

// eachGap visits the gaps between the intervals of busy, in order of time, each with the device work that ends it.
func (w *Timeline) eachGap(busy stats.Set, visit func(from, to model.Time, row model.EventID)) {
	ev := &w.Trace.Events
	next := 0
	for i := 1; i < len(busy); i++ {
		from, to := model.Time(busy[i-1].To), model.Time(busy[i].From)
		for next < len(w.Rows) && (ev.Start[w.Rows[next]] < to || ev.Dur[w.Rows[next]] == 0) {
			next++
		}
		if next == len(w.Rows) {
			return
		}
		visit(from, to, w.Rows[next])
	}
}

// idle splits every gap between the intervals of busy. A gap before work that was launched too late is the host's until
// the launching call starts, then the launch's; the host's part goes to what that thread did.
func (w *Timeline) idle(busy stats.Set) []IdleCause {
	w.resetWaits(readIdle)
	book := idleBook{w: w, byPlace: map[idlePlace]*IdleCause{}}
	w.eachGap(busy, book.explain)
	sums := map[idleKey]*IdleCause{}
	for key, c := range book.byPlace {
		c.Cause = key.cause
		if key.place >= 0 {
			c.Where = w.lines.Places[key.place]
			c.Where.Module = "" // a gap belongs to a line or operator, not to each instance of a module
		}
		sum := sums[idleKey{c.Cause, c.Where}]
		if sum == nil {
			sums[idleKey{c.Cause, c.Where}] = c
			continue
		}
		sum.Dur += c.Dur
		sum.Gaps += c.Gaps
		if c.Longest > sum.Longest || c.Longest == sum.Longest && c.At < sum.At {
			sum.Longest, sum.At = c.Longest, c.At
		}
	}
	out := make([]IdleCause, 0, len(sums))
	for _, c := range sums {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b IdleCause) int {
		return cmp.Or(cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.At, b.At), cmp.Compare(a.Cause, b.Cause))
	})
	return out
}

type idleKey struct {
	cause string
	where code.Where
}

// idleBook sums up gaps by cause and place while they go by.
type idleBook struct {
	w       *Timeline
	byPlace map[idlePlace]*IdleCause
}

type idlePlace struct {
	cause string
	place int32 // -1 unknown
}

// explain books one gap, which the given device row ended.
func (b *idleBook) explain(from, to model.Time, row model.EventID) {
	w := b.w
	ev := &w.Trace.Events
	launch := ev.Link[row]
	if launch == model.NoEvent {
		b.add(IdleUnknown, -1, from, to)
		return
	}
	called := min(ev.Start[launch], to)
	where := w.lines.Number(launch)
	if called <= from {
		switch {
		case ev.End(launch) > from:
			b.addLaunch(launch, where, from, to)
		case to-from > OwnGap:
			b.add(IdleWait, where, from, to)
		default:
			b.add(IdleKernel, where, from, to)
		}
		return
	}
	cause, at, until := w.hostCause(w.launching(ev.Lane[launch]), readIdle, from, called)
	host := where
	if at != model.NoEvent {
		host = w.lines.Number(at)
	}
	b.add(cause, host, from, until)
	if until < called {
		b.add(IdleHost, where, until, called)
	}
	if called < to {
		b.addLaunch(launch, where, called, to)
	}
}

// addLaunch books the time from a launching call's start to the work's. What is longer after the call's end than any
// launch takes is waiting: for another stream, or for work that the trace does not show.
func (b *idleBook) addLaunch(launch model.EventID, where int32, from, to model.Time) {
	returned := min(max(b.w.Trace.Events.End(launch), from), to)
	if to.Sub(returned) <= LongDelay {
		returned = to
	}
	if from < returned {
		b.add(IdleLaunch, where, from, returned)
	}
	if returned < to {
		b.add(IdleWait, where, returned, to)
	}
}

func (b *idleBook) add(cause string, place int32, from, to model.Time) {
	key := idlePlace{cause, place}
	c := b.byPlace[key]
	if c == nil {
		c = &IdleCause{}
		b.byPlace[key] = c
	}
	c.Dur += to.Sub(from)
	c.Gaps++
	if d := to.Sub(from); d > c.Longest {
		c.Longest, c.At = d, from
	}
}

// launching is what a launching thread did.
func (w *Timeline) launching(lane model.LaneID) *LaunchLane {
	if w.threads[lane] == nil {
		w.threads[lane] = w.ReadLane(lane)
	}
	return w.threads[lane]
}

// resetWaits begins a reader's account of waits anew.
func (w *Timeline) resetWaits(reader int) {
	for _, lane := range w.threads {
		if lane != nil {
			lane.used[reader] = 0
		}
	}
}

// ReadLane collects a thread's calls of interest, in order of start.
func (w *Timeline) ReadLane(lane model.LaneID) *LaunchLane {
	ev := &w.Trace.Events
	out := &LaunchLane{}
	for id := w.Trace.Lanes[lane].FirstEvent; id < w.Trace.Lanes[lane].EndEvent; id++ {
		switch ev.Kind[id] {
		case model.KindRuntime:
			switch {
			case w.calls.Of(ev.Name[id]) == naming.CallAllocates:
				out.memory = append(out.memory, id)
			case w.blocks(id):
				out.Waits = append(out.Waits, id)
				before := model.Dur(0)
				if n := len(out.waited); n > 0 {
					before = out.waited[n-1]
				}
				out.waited = append(out.waited, before+ev.Dur[id])
			}
		case model.KindAnnotation, model.KindOp:
			if naming.IsDataLoader(w.texts.Text(ev.Name[id])) {
				out.inputs = append(out.inputs, id)
			}
		}
	}
	return out
}

// hostCause says what a thread did in [from, until), and the event that shows it; from until to to it was merely not fast enough.
// Waits cost no more than they lasted, all in all: without them the thread would have been that much ahead.
func (w *Timeline) hostCause(lane *LaunchLane, reader int, from, to model.Time) (cause string, at model.EventID, until model.Time) {
	ev := &w.Trace.Events
	half := to.Sub(from) / 2
	if id, time := overlapping(ev, lane.inputs, from, to); time > half {
		return IdleInput, id, to
	}
	if id, time := overlapping(ev, lane.memory, from, to); time > half {
		return IdleAlloc, id, to
	}
	if n := openAt(ev, lane.Waits, from); n >= 0 {
		until := min(to, from+model.Time(lane.waited[n]-lane.used[reader]))
		lane.used[reader] += until.Sub(from)
		return IdleSync, lane.Waits[n], until
	}
	return IdleHost, model.NoEvent, to
}

// overlapping is the time that events (sorted, disjoint) share with [from, to), and the event with the largest part.
func overlapping(ev *model.Events, ids []model.EventID, from, to model.Time) (best model.EventID, sum model.Dur) {
	best = model.NoEvent
	longest := model.Dur(0)
	at, _ := slices.BinarySearchFunc(ids, from, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t+1) })
	for _, id := range ids[at:] {
		if ev.Start[id] >= to {
			break
		}
		part := min(ev.End(id), to).Sub(max(ev.Start[id], from))
		sum += part
		if part > longest {
			best, longest = id, part
		}
	}
	return best, sum
}

// openAt is the number of the event that is open at an instant or has just ended, -1.
func openAt(ev *model.Events, ids []model.EventID, t model.Time) int {
	at, _ := slices.BinarySearchFunc(ids, t, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t) })
	if at < len(ids) && ev.Start[ids[at]] <= t {
		return at
	}
	return -1
}
