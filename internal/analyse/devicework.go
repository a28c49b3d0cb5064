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
}

// deviceWorks splits a trace's device rows by device, in order of device number.
func deviceWorks(t *model.Trace, s *model.Strings) []*deviceWork {
	byDevice := map[int32][]model.EventID{}
	for i := range t.Lanes {
		lane := &t.Lanes[i]
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if !t.Events.Kind[id].Device() {
				continue
			}
			byDevice[lane.Device] = append(byDevice[lane.Device], id)
		}
	}
	var out []*deviceWork
	shared, lines, calls := newClasses(s), newLineFinder(t, s), newCallClasses(s)
	for device, rows := range byDevice {
		out = append(out, &deviceWork{trace: t, texts: s, classes: shared, device: device, rows: mergeLanes(&t.Events, rows), lines: lines, calls: calls})
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

func (w *deviceWork) sets() deviceSets {
	ev := &w.trace.Events
	all := make([]stats.Interval, 0, len(w.rows))
	var compute, comm, copies []stats.Interval
	for _, id := range w.rows {
		i := interval(ev, id)
		all = append(all, i)
		switch c := w.classes.of(ev, id); {
		case c.Compute():
			compute = append(compute, i)
		case c == ClassCommunication:
			comm = append(comm, i)
		default:
			copies = append(copies, i)
		}
	}
	return deviceSets{stats.Union(all), stats.Union(compute), stats.Union(comm), stats.Union(copies)}
}
