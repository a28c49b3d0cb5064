package account

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// longLaunch is how long a call that launches work lasts, in ns, from which the device's queue was full and it waits: a guess.
const longLaunch = 100_000

// deviceBound is the share of the accounted steps in which a device computes, from which it sets their pace: what the program does
// meanwhile is hidden behind it, and a queue that is full only after many steps makes none of the traced ones wait. A guess.
const deviceBound = 0.8

// deviceWaits is what traced steps waited for devices, as a share of their time in operators and in calls of the device's runtime outside
// of them.
type deviceWaits struct {
	busy float64 // while a device worked
	idle float64 // while none did: until the work had reached it
	// computes is what devices compute for a traced step, without collectives, as a share of the mean accounted one.
	computes float64
}

// waitsForDevices finds them in the traced steps of the accounted kind; nothing without work of a device there. A thread that waits for
// a device by asking again and again looks, to samples, as if it computed an operator. While autograd's own thread goes backward for a
// device, the driving one waits for it: what that thread does then counts.
func (b *Breakdown) waitsForDevices(s *model.Session) (out deviceWaits) {
	w := waitCount{s: s}
	works, computed, steps := map[*model.Trace][]times.Interval{}, 0.0, 0
	for _, st := range TracedSteps(s, b) {
		driver := laneOf(st.Trace, b.Thread)
		if driver < 0 {
			continue
		}
		if _, known := works[st.Trace]; !known {
			works[st.Trace] = deviceWork(st.Trace)
		}
		if w.work = works[st.Trace]; len(w.work) == 0 {
			continue
		}
		if w.calls == nil {
			w.calls, w.classes = naming.NewCallClasses(s.Strings), naming.NewKernelClasses(s.Strings)
		}
		steps++
		computed += w.computedFor(st)
		for lane := range st.Trace.Lanes {
			if id := model.LaneID(lane); id == driver || w.goesBackward(st, id) {
				w.count(st, id)
			}
		}
	}
	if w.all <= 0 {
		return deviceWaits{}
	}
	out = deviceWaits{busy: min(w.busy/w.all, 1), idle: min(w.idle/w.all, 1)}
	if mean := b.Mean(); mean > 0 {
		out.computes = min(computed/float64(steps)/mean, 1)
	}
	return out
}

// computedFor is how long devices compute what was launched in a step, in ns.
func (w *waitCount) computedFor(st TracedStep) float64 {
	var rows []times.Interval
	ev := &st.Trace.Events
	for i := range st.Trace.Lanes {
		first, end := laneEvents(st.Trace, model.LaneID(i))
		for id := model.EventID(first); int(id) < end; id++ {
			call := ev.Link[id]
			if ev.Kind[id].Device() && call != model.NoEvent && ev.Start[call] >= st.Start && ev.Start[call] < st.End &&
				w.classes.Of(ev, id).Compute() {
				rows = append(rows, times.Interval{Start: ev.Start[id], End: ev.End(id)})
			}
		}
	}
	return times.Covered(rows)
}

// waitCount adds up what threads do in traced steps, in ns.
type waitCount struct {
	s               *model.Session
	calls           *naming.CallClasses
	classes         *naming.KernelClasses
	work            []times.Interval // of the step's trace
	all, busy, idle float64          // outermost operators and calls outside of the DataLoader; waits in them, by what the device did
}

// goesBackward says that functions of a backward pass run on a lane in a step.
func (w *waitCount) goesBackward(st TracedStep, lane model.LaneID) (found bool) {
	if st.Trace.Lanes[lane].Kind != model.LaneThread {
		return false
	}
	st.eachRow(lane, func(ev *model.Events, id model.EventID) bool {
		found = found || ev.Kind[id] == model.KindOp && naming.IsBackward(w.s.Strings.Text(ev.Name[id]))
		return !found
	})
	return found
}

func (w *waitCount) count(st TracedStep, lane model.LaneID) {
	until, fetched := model.Time(0), model.Time(0)
	st.eachRow(lane, func(ev *model.Events, id model.EventID) bool {
		runtime := ev.Kind[id] == model.KindRuntime
		switch {
		case ev.Start[id] < fetched: // a wait for data has a part of its own
			return true
		case !runtime && naming.IsDataLoader(w.s.Strings.Text(ev.Name[id])):
			fetched = ev.End(id)
			return true
		case (ev.Kind[id] == model.KindOp || runtime) && ev.Start[id] >= until:
			until = ev.End(id)
			w.all += float64(ev.Dur[id])
		}
		if runtime && (w.calls.Of(ev.Name[id]) == naming.CallBlocks || ev.Dur[id] >= longLaunch) {
			worked := times.Overlap(w.work, ev.Start[id], ev.End(id))
			w.busy += worked
			w.idle += float64(ev.Dur[id]) - worked
		}
		return true
	})
}

// deviceWork is when any device of a trace works, sorted and disjoint.
func deviceWork(t *model.Trace) []times.Interval {
	var work []times.Interval
	for i := range t.Lanes {
		first, end := laneEvents(t, model.LaneID(i))
		for id := first; id < end; id++ {
			if t.Events.Kind[id].Device() {
				work = append(work, times.Interval{Start: t.Events.Start[id], End: t.Events.End(model.EventID(id))})
			}
		}
	}
	return times.Disjoint(work)
}
