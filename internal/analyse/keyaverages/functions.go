package keyaverages

import (
	"slices"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Flags of a function row.
const (
	rowDevice     uint8 = 1 << iota // work on the device, not on a CPU thread
	rowAnnotation                   // record_function and its shadow on the device
	rowPython
	rowAsync   // starts and ends on different threads: no children, no self time
	rowMemory  // an allocation that no CPU event covers
	rowRemoved // the only child of a parent of the same name
	rowChild   // one child
	rowMany    // more than one; rowChild is set too

	rowChildren = rowChild | rowMany
)

// functionRow is one entry of torch's event list. Parents come before their children. A trace has as many as events: what
// the event says anyway is not repeated.
type functionRow struct {
	event  model.EventID // below NoEvent for rowMemory: see memoryRow
	parent int32         // row, -1
	thread int32
	flags  uint8
	below  model.Dur // sum of the children's CPU time
	device model.Dur // own kernels and those of everything below
}

// memoryRow stands for a row of the trace's memory events where an event is meant, and is its own inverse.
func memoryRow(i model.EventID) model.EventID { return model.NoEvent - 1 - i }

// start and end of a row are those of its event; a memory event takes no time.
func (f *functions) start(r *functionRow) model.Time {
	if r.event < 0 {
		return f.trace.Memory.Time[memoryRow(r.event)]
	}
	return f.trace.Events.Start[r.event]
}

func (f *functions) dur(r *functionRow) model.Dur {
	if r.event < 0 {
		return 0
	}
	return f.trace.Events.Dur[r.event]
}

func (f *functions) end(r *functionRow) model.Time { return f.start(r) + model.Time(f.dur(r)) }

// name is the event's, or what torch puts in its place.
func (f *functions) name(r *functionRow) model.Str {
	if r.event < 0 {
		return memoryName
	}
	name := f.trace.Events.Name[r.event]
	if f.classes[name] == naming.EventStep {
		return f.step
	}
	return name
}

// ownDevice is the sum of a row's own kernels.
func (f *functions) ownDevice(r *functionRow) model.Dur {
	if r.event < 0 || r.flags&(rowDevice|rowAsync) != 0 {
		return 0
	}
	return f.own[r.event]
}

// functions is a trace as torch.profiler's event list: filtered, in order of (start, -end), with the tree of
// torch.autograd.profiler_util.EventList (PyTorch 2.15).
type functions struct {
	trace  *model.Trace
	texts  *model.Strings
	rows   []functionRow
	memory memoryUses
	opt    Options

	order   []model.EventID     // events that are rows to come
	own     []model.Dur         // by event: its own device rows, for operators, and those of children that it stands for
	classes []naming.EventClass // by name
	stacks  [][]int32           // by thread: rows that are open
	step    model.Str           // name of the first step, which stands for all
}

// newFunctions makes the rows of a whole trace.
func newFunctions(t *model.Trace, texts *model.Strings, opt Options) *functions {
	f := startFunctions(t, texts, opt)
	f.take(len(f.order))
	return f
}

// windowRows is how many rows of a trace are made at a time at least, where nothing asks for all at once.
const windowRows = 1 << 16

// eachFunctions makes the rows of a trace window by window, so that a trace of millions of events needs no row for each at
// once: no CPU row is open where one window ends and the next begins, so no row has its parent in another one. Stacks need
// all rows, and memory events belong to rows of all threads: a trace that has any, or is to be grouped by stacks, is one window.
func eachFunctions(t *model.Trace, texts *model.Strings, opt Options, visit func(*functions)) {
	if opt.ByStack > 0 || len(t.Memory.Time) > 0 {
		visit(newFunctions(t, texts, opt))
		return
	}
	f := startFunctions(t, texts, opt)
	for len(f.order) > 0 {
		f.take(f.window(windowRows))
		visit(f)
	}
}

// startFunctions finds the events that become rows, merging the lanes (each sorted already) into one order of (start, -end),
// and the time of each operator's own device rows.
func startFunctions(t *model.Trace, texts *model.Strings, opt Options) *functions {
	ev := &t.Events
	n := ev.Len()
	f := &functions{trace: t, texts: texts, opt: opt, classes: make([]naming.EventClass, texts.Len()), own: make([]model.Dur, n)}
	order := make([]model.EventID, 0, n)
	for i := range n {
		name := ev.Name[i]
		class := f.classes[name]
		if class == naming.EventUnseen {
			class = naming.ClassifyEvent(texts.Text(name))
			f.classes[name] = class
		}
		if class == naming.EventHidden || !f.wanted(ev.Kind[i]) {
			continue
		}
		if class == naming.EventStep && f.step == 0 {
			f.step = name
		}
		id := model.EventID(i)
		order = append(order, id)
		// the shadows of annotations belong to no operator
		if flags := kindFlags(ev.Kind[i]); flags&rowDevice != 0 && flags&rowAnnotation == 0 {
			if op := f.linked(id); op != model.NoEvent {
				f.own[op] += ev.Dur[i]
			}
		}
	}
	f.order = times.MergeLanes(ev, order)
	return f
}

// window is how many of the rows to come, at least the given number if there are, end before the next one begins.
func (f *functions) window(atLeast int) int {
	ev := &f.trace.Events
	var until model.Time
	for i, id := range f.order {
		if i >= atLeast && ev.Start[id] >= until {
			return i
		}
		if f.flagsOf(id)&(rowDevice|rowAsync) == 0 {
			until = max(until, ev.End(id))
		}
	}
	return len(f.order)
}

// take makes the next n rows, with all that is known of them.
func (f *functions) take(n int) {
	f.collect(f.order[:n])
	f.order = f.order[n:]
	f.addMemory()
	f.nest()
	f.removeDuplicates()
	f.sumUp()
}

// flagsOf are the flags that an event's kind and name give.
func (f *functions) flagsOf(id model.EventID) uint8 {
	ev := &f.trace.Events
	flags := kindFlags(ev.Kind[id])
	if f.classes[ev.Name[id]] == naming.EventAsync && flags&rowDevice == 0 {
		flags |= rowAsync
	}
	return flags
}

// collect makes the rows of events.
func (f *functions) collect(ids []model.EventID) {
	ev := &f.trace.Events
	f.rows = slices.Grow(f.rows[:0], len(ids))
	for _, id := range ids {
		row := functionRow{event: id, parent: -1, flags: f.flagsOf(id), thread: f.threadOf(id)}
		if row.flags&(rowDevice|rowAnnotation) == rowDevice {
			row.device = ev.Dur[id]
		}
		f.rows = append(f.rows, row)
	}
}

func (f *functions) wanted(k model.Kind) bool {
	return k != model.KindOther && (k != model.KindPython || !f.opt.IgnorePython)
}

func kindFlags(k model.Kind) uint8 {
	switch k {
	case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindSync, model.KindDeviceEvent:
		return rowDevice
	case model.KindGPUAnnotation:
		return rowDevice | rowAnnotation
	case model.KindAnnotation:
		return rowAnnotation
	case model.KindPython:
		return rowPython
	}
	return 0
}

// threadOf is the thread on which torch nests a CPU event: its own, that of the operator it is linked to, or, for
// runtime calls and overhead without a link, one that they all share.
func (f *functions) threadOf(id model.EventID) int32 {
	ev := &f.trace.Events
	shared := int32(len(f.trace.Lanes))
	switch ev.Kind[id] {
	case model.KindOverhead:
		return shared
	case model.KindRuntime:
		if op := f.linked(id); op != model.NoEvent {
			return int32(ev.Lane[op])
		}
		return shared
	}
	return int32(ev.Lane[id])
}

// linked is the operator that torch counts a runtime call or device row to, NoEvent without one. Where "External id"
// names operators, a row without it is unlinked even inside an operator's interval.
func (f *functions) linked(id model.EventID) model.EventID {
	ev := &f.trace.Events
	op, detail := ev.Op[id], ev.Detail[id]
	if op == model.NoEvent || !f.trace.Features.ExternalLinks || detail < 0 {
		return op
	}
	external := int64(0)
	if ev.Kind[id] == model.KindRuntime {
		external = ev.RuntimeDetails[detail].External
	} else {
		external = ev.DeviceDetails[detail].External
	}
	if external == 0 {
		return model.NoEvent
	}
	return op
}
