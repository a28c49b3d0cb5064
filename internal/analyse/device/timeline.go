package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Timeline is all work of one device of one trace, in order of start; what the analyses of devices share.
type Timeline struct {
	Trace   *model.Trace
	texts   *model.Strings
	Classes *naming.KernelClasses
	Device  int32
	Rows    []model.EventID // kernels, copies, sets by (start, -end)
	lines   *code.Finder
	calls   *naming.CallClasses
	// What several analyses need, made by the first: the unions of rows, and what launching threads did.
	unions  *Sets
	threads map[model.LaneID]*LaunchLane // shared by the devices
}

// Work is the device work of one trace, prepared once for all analyses that look at it. It is of one goroutine.
type Work struct {
	trace *model.Trace
	texts *model.Strings
	list  []*Timeline
}

// NewWork prepares the analyses of a trace's device work.
func NewWork(t *model.Trace, s *model.Strings) *Work { return &Work{t, s, Timelines(t, s)} }

// Timelines splits a trace's device rows by device, in order of device number.
func Timelines(t *model.Trace, s *model.Strings) []*Timeline {
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
	var out []*Timeline
	shared, lines, calls := naming.NewKernelClasses(s), code.NewFinder(t, s), naming.NewCallClasses(s)
	threads := map[model.LaneID]*LaunchLane{}
	for device, rows := range byDevice {
		out = append(out, &Timeline{Trace: t, texts: s, Classes: shared, Device: device, Rows: times.MergeLanes(&t.Events, rows),
			lines: lines, calls: calls, threads: threads})
	}
	slices.SortFunc(out, func(a, b *Timeline) int { return cmp.Compare(a.Device, b.Device) })
	return out
}

// Sets are the unions of a device's work by what it is for.
type Sets struct{ busy, Compute, communication, copies stats.Set }

// Sets are made once: the rows are in order of start, so that each union is one pass.
func (w *Timeline) Sets() Sets {
	if w.unions == nil {
		ev := &w.Trace.Events
		sets := Sets{busy: make(stats.Set, 0, len(w.Rows)), Compute: make(stats.Set, 0, len(w.Rows))}
		for _, id := range w.Rows {
			i := times.OfEvent(ev, id)
			sets.busy = sets.busy.Push(i)
			switch c := w.Classes.Of(ev, id); {
			case c.Compute():
				sets.Compute = sets.Compute.Push(i)
			case c == naming.ClassCommunication:
				sets.communication = sets.communication.Push(i)
			default:
				sets.copies = sets.copies.Push(i)
			}
		}
		w.unions = &sets
	}
	return *w.unions
}

// blocks says whether a runtime call waited for the device: synchronising calls, blocking copies, and "asynchronous" copies
// whose pageable memory makes the driver wait.
func (w *Timeline) blocks(id model.EventID) bool {
	ev := &w.Trace.Events
	switch w.calls.Of(ev.Name[id]) {
	case naming.CallBlocks:
		return true
	case naming.CallCopies:
		copied := ev.Link[id]
		return copied != model.NoEvent && ev.Kind[copied] == model.KindMemcpy && ev.End(id) >= ev.End(copied) &&
			strings.Contains(w.texts.Text(ev.Name[copied]), "Pageable")
	}
	return false
}
