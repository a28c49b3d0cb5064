package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// longLaunch is how long a call that launches work lasts, in ns, from which the device's queue was full: it then waits for the device.
const longLaunch = 100_000

// deviceWaits is what the driving thread of traced steps waited for devices, as a share of its time in operators and in calls of the
// device's runtime outside of them.
type deviceWaits struct {
	busy float64 // while a device worked
	idle float64 // while none did: until the work had reached it
}

// waitsForDevices finds them in the traced steps of the accounted kind; nothing without work of a device there. A thread that waits for a
// device by asking again and again looks, to samples, as if it computed an operator.
func (b *Breakdown) waitsForDevices(s *model.Session) (out deviceWaits) {
	all, calls := 0.0, naming.NewCallClasses(s.Strings)
	works := map[*model.Trace][]times.Interval{}
	for _, st := range TracedSteps(s, b) {
		lane := laneOf(st.Trace, b.Thread)
		if lane < 0 {
			continue
		}
		if _, known := works[st.Trace]; !known {
			works[st.Trace] = deviceWork(st.Trace)
		}
		work := works[st.Trace]
		if len(work) == 0 {
			continue
		}
		ev, until, fetched := &st.Trace.Events, model.Time(0), model.Time(0)
		first, end := laneEvents(st.Trace, lane)
		skip, _ := slices.BinarySearchFunc(ev.Start[first:end], st.Start, func(x, y model.Time) int { return cmp.Compare(x, y) })
		for i := first + skip; i < end && ev.Start[i] < st.End; i++ {
			if ev.Start[i] < fetched {
				continue // a wait for data has a part of its own
			}
			runtime := ev.Kind[i] == model.KindRuntime
			if !runtime && naming.IsDataLoader(s.Strings.Text(ev.Name[i])) {
				fetched = ev.End(model.EventID(i))
				continue
			}
			if (ev.Kind[i] == model.KindOp || runtime) && ev.Start[i] >= until {
				until = ev.End(model.EventID(i))
				all += float64(ev.Dur[i])
			}
			if runtime && (calls.Of(ev.Name[i]) == naming.CallBlocks || ev.Dur[i] >= longLaunch) {
				worked := covered(work, ev.Start[i], ev.End(model.EventID(i)))
				out.busy += worked
				out.idle += float64(ev.Dur[i]) - worked
			}
		}
	}
	if all <= 0 {
		return deviceWaits{}
	}
	out.busy, out.idle = min(out.busy/all, 1), min(out.idle/all, 1)
	return out
}

// deviceWork is when any device of a trace works, sorted and disjoint.
func deviceWork(t *model.Trace) []times.Interval {
	var work []times.Interval
	for i := range t.Lanes {
		for id := t.Lanes[i].FirstEvent; id < t.Lanes[i].EndEvent; id++ {
			if t.Events.Kind[id].Device() {
				work = append(work, times.Interval{Start: t.Events.Start[id], End: t.Events.End(id)})
			}
		}
	}
	return times.Disjoint(work)
}

// covered is how much of a stretch sorted and disjoint intervals cover, in ns.
func covered(list []times.Interval, from, to model.Time) (t float64) {
	i, _ := slices.BinarySearchFunc(list, from, func(iv times.Interval, at model.Time) int { return cmp.Compare(iv.End, at) })
	for ; i < len(list) && list[i].Start < to; i++ {
		t += float64(max(min(list[i].End, to)-max(list[i].Start, from), 0))
	}
	return t
}
