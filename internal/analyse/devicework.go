package analyse

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// deviceWork is all work of one device of one trace, in order of start; what the analyses of devices share.
type deviceWork struct {
	trace   *model.Trace
	texts   *model.Strings
	classes *classes
	device  int32
	rows    []model.EventID // kernels, copies, sets by (start, -end)
	lines   *lineFinder
	calls   *callClasses
	// What several analyses need, made by the first: the unions of rows, and what launching threads did.
	unions  *deviceSets
	threads map[model.LaneID]*launchLane // shared by the devices
}

// Work is the device work of one trace, prepared once for all analyses that look at it. It is of one goroutine.
type Work struct {
	trace *model.Trace
	texts *model.Strings
	list  []*deviceWork
}

// NewWork prepares the analyses of a trace's device work.
func NewWork(t *model.Trace, s *model.Strings) *Work { return &Work{t, s, deviceWorks(t, s)} }

// deviceWorks splits a trace's device rows by device, in order of device number.
func deviceWorks(t *model.Trace, s *model.Strings) []*deviceWork {
	byDevice := map[int32][]model.EventID{}
	for i := range t.Lanes {
		lane := &t.Lanes[i]
		n := 0
		for _, k := range t.Events.Kind[lane.FirstEvent:lane.EndEvent] {
			if k.Device() {
				n++
			}
		}
		if n == 0 {
			continue
		}
		rows := slices.Grow(byDevice[lane.Device], n)
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if t.Events.Kind[id].Device() {
				rows = append(rows, id)
			}
		}
		byDevice[lane.Device] = rows
	}
	var out []*deviceWork
	shared, lines, calls := newClasses(s), newLineFinder(t, s), newCallClasses(s)
	threads := map[model.LaneID]*launchLane{}
	for device, rows := range byDevice {
		out = append(out, &deviceWork{trace: t, texts: s, classes: shared, device: device, rows: mergeLanes(&t.Events, rows), lines: lines, calls: calls,
			threads: threads})
	}
	slices.SortFunc(out, func(a, b *deviceWork) int { return cmp.Compare(a.device, b.device) })
	return out
}

// interval is an event's time as the interval arithmetic wants it.
func interval(ev *model.Events, id model.EventID) stats.Interval {
	return stats.Interval{From: int64(ev.Start[id]), To: int64(ev.End(id))}
}

// deviceSets are the unions of a device's work by what it is for.
type deviceSets struct{ busy, compute, communication, copies stats.Set }

// sets are made once: the rows are in order of start, so that each union is one pass.
func (w *deviceWork) sets() deviceSets {
	if w.unions == nil {
		ev := &w.trace.Events
		sets := deviceSets{busy: make(stats.Set, 0, len(w.rows)), compute: make(stats.Set, 0, len(w.rows))}
		for _, id := range w.rows {
			i := interval(ev, id)
			sets.busy = sets.busy.Push(i)
			switch c := w.classes.of(ev, id); {
			case c.Compute():
				sets.compute = sets.compute.Push(i)
			case c == ClassCommunication:
				sets.communication = sets.communication.Push(i)
			default:
				sets.copies = sets.copies.Push(i)
			}
		}
		w.unions = &sets
	}
	return *w.unions
}
