package ingest

import (
	"strings"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// builder collects the events of one trace.
type builder struct {
	scan     *kineto.Scanner
	trace    *model.Trace
	opt      TraceOptions
	*stage             // what was read so far
	cats     []catInfo // by category text
	oldNames []uint8   // by name, where categories are old: 0 unseen, 1 operator, 2 annotation
	lanes    laneTable
	open     map[model.LaneID][]rawEvent // begin events without their end
	header   header
	extras   extraTable
	// Arguments that events have alike, each distinct set once.
	opArgs     argTable[model.OpArgs]
	deviceArgs argTable[model.DeviceArgs]
	readErr    error
	readers    int // goroutines that parse the text; 0 and 1: it is read as one
	pieceSize  int
	// piecewise stops before rows that need what earlier pieces of the text hold.
	piecewise bool
	// otherClock counts events that follow another clock than the rest, nil where there are none.
	otherClock *model.Diagnostic
}

// catInfo is what a category means.
type catInfo struct {
	known  bool
	kind   model.Kind
	ranges bool // ranges of the device with counters as their arguments
	old    bool // "Operator" of PyTorch up to 1.10, which annotations have too
}

// categories maps categories of all versions, in lower case, to kinds.
var categories = map[string]model.Kind{
	"cpu_op": model.KindOp, "operator": model.KindOp,
	"user_annotation": model.KindAnnotation,
	"python_function": model.KindPython, vizCategory: model.KindPython,
	"cuda_runtime": model.KindRuntime, "runtime": model.KindRuntime, "cuda_driver": model.KindRuntime,
	"xpu_runtime": model.KindRuntime, "xpu_driver": model.KindRuntime, "mtia_runtime": model.KindRuntime,
	"privateuse1_runtime": model.KindRuntime, "privateuse1_driver": model.KindRuntime, "glow_runtime": model.KindRuntime,
	"kernel": model.KindKernel, "mtia_ccp_events": model.KindKernel, "hpu_op": model.KindKernel,
	"gpu_memcpy": model.KindMemcpy, "memcpy": model.KindMemcpy,
	"gpu_memset": model.KindMemset, "memset": model.KindMemset,
	"gpu_user_annotation": model.KindGPUAnnotation, "user": model.KindGPUAnnotation,
	"cuda_sync": model.KindSync, "xpu_sync": model.KindSync,
	"cuda_event": model.KindDeviceEvent,
	"overhead":   model.KindOverhead,
}

// run reads events to the end of the text, or of a piece of it, and returns the offset up to which it has read.
func (b *builder) run() int64 {
	var e kineto.Event
	for b.scan.Next(&e) {
		if b.piecewise && (e.Phase == 'B' || e.Phase == 'E' || b.extras.bytes > maxExtras || len(b.lanes.list) >= maxLanes) {
			return e.Offset
		}
		b.total++
		switch e.Phase {
		case 'X':
			b.complete(&e)
		case 's', 'f', 't':
			// Flows repeat what correlations and sequence numbers say.
		case 'i', 'I':
			b.instant(&e)
		case 'M':
			b.metadata(&e)
		case 'C':
			b.counter(&e)
		case 'B':
			b.begin(&e)
		case 'E':
			b.end(&e)
		case 0:
			b.skipped.add("no-phase", e.Offset)
		}
	}
	return b.scan.Offset()
}

func (b *builder) cat(id kineto.Text) catInfo {
	for int(id) >= len(b.cats) {
		b.cats = append(b.cats, catInfo{})
	}
	for int(id) >= len(b.counts) {
		b.counts = append(b.counts, 0)
	}
	c := &b.cats[id]
	if !c.known {
		c.known = true
		name := lower(b.scan.Names.String(id))
		c.kind, c.old, c.ranges = categories[name], name == "operator", name == "cuda_profiler_range"
	}
	return *c
}

// complete adds an X event.
func (b *builder) complete(e *kineto.Event) {
	c := b.cat(e.Cat)
	b.counts[e.Cat]++
	if !e.HasTS() {
		b.skipped.add("no-time", e.Offset)
		return
	}
	kind := c.kind
	if e.Cat == 0 {
		kind = b.kindWithoutCat(e)
	} else if c.old && b.annotates(e.Name) {
		kind = model.KindAnnotation
	}
	dur := e.Dur
	if !e.HasDur() {
		dur = 0
		b.skipped.add("no-duration", e.Offset)
	}
	if why := impossible(e, kind, dur); why != "" {
		b.skipped.add(why, e.Offset)
		return
	}
	if c.ranges && b.opt.Skip&SkipCounters == 0 {
		b.values(e, kineto.ID{Num: b.ranged, Set: true}, &b.ranges)
		b.ranged++
	}
	b.add(e, kind, e.TS, dur)
}

func (b *builder) add(e *kineto.Event, kind model.Kind, start, dur int64) {
	raw := rawEvent{start: start, dur: dur, name: e.Name, kind: kind, detail: -1}
	raw.lane = b.lanes.find(e.PID, e.TID, laneKind(kind, e))
	raw.detail = b.detail(e, kind)
	b.events.add(raw)
}

// kindWithoutCat reads what the old autograd profiler writes when Kineto is not compiled in: the row says it all.
func (b *builder) kindWithoutCat(e *kineto.Event) model.Kind {
	switch b.scan.Names.String(e.PID.Text) {
	case "CPU functions":
		return model.KindOp
	case "CUDA functions":
		return model.KindKernel
	}
	return model.KindOther
}

// annotates says whether an event of the old category "Operator", which until PyTorch 1.10 held annotations too, is one that
// the profiler or an optimizer made.
func (b *builder) annotates(name kineto.Text) bool {
	for int(name) >= len(b.oldNames) {
		b.oldNames = append(b.oldNames, 0)
	}
	if b.oldNames[name] == 0 {
		b.oldNames[name] = 1
		if text := b.scan.Names.String(name); strings.HasPrefix(text, "ProfilerStep#") || strings.HasPrefix(text, "Optimizer.") {
			b.oldNames[name] = 2
		}
	}
	return b.oldNames[name] == 2
}

func laneKind(kind model.Kind, e *kineto.Event) model.LaneKind {
	switch kind {
	case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindGPUAnnotation, model.KindSync, model.KindDeviceEvent:
		return model.LaneStream
	case model.KindOverhead:
		return model.LaneOther
	case model.KindOther:
		if _, onStream := e.Int(kineto.Stream); onStream {
			return model.LaneStream
		}
		if e.PID.Text != 0 || !e.PID.Set {
			return model.LaneOther
		}
	}
	return model.LaneThread
}

// Longest durations and times that are taken seriously: a month, and the year 2200.
const (
	longest = 31 * 24 * 3600 * 1_000_000_000
	latest  = 7_258_118_400 * 1_000_000_000
)

// impossible names what is wrong with an event's times, "" when nothing is.
func impossible(e *kineto.Event, kind model.Kind, dur int64) string {
	switch {
	case dur < 0:
		return "negative-duration"
	case dur > longest:
		return "absurd-duration"
	case e.TS > latest || e.TS < -longest:
		return "absurd-time"
	case e.TS == 0 && dur == 0 && kind.Device():
		return "no-device-time"
	}
	return ""
}

// begin and end make complete events of B and E ones.
func (b *builder) begin(e *kineto.Event) {
	if !e.HasTS() {
		b.skipped.add("no-time", e.Offset)
		return
	}
	c := b.cat(e.Cat)
	lane := b.lanes.find(e.PID, e.TID, laneKind(c.kind, e))
	if b.open == nil {
		b.open = map[model.LaneID][]rawEvent{}
	}
	if len(b.open[lane]) >= maxOpen {
		b.skipped.add("nested-too-deep", e.Offset)
		return
	}
	b.open[lane] = append(b.open[lane], rawEvent{start: e.TS, name: e.Name, kind: c.kind, detail: b.detail(e, c.kind), lane: lane})
}

const maxOpen = 10_000

func (b *builder) end(e *kineto.Event) {
	c := b.cat(e.Cat)
	lane := b.lanes.find(e.PID, e.TID, laneKind(c.kind, e))
	stack := b.open[lane]
	if len(stack) == 0 || !e.HasTS() {
		b.skipped.add("end-without-begin", e.Offset)
		return
	}
	raw := stack[len(stack)-1]
	b.open[lane] = stack[:len(stack)-1]
	raw.dur = e.TS - raw.start
	if raw.dur < 0 || raw.dur > longest {
		b.skipped.add("negative-duration", e.Offset)
		return
	}
	b.counts[e.Cat]++
	b.events.add(raw)
}

// instant keeps memory events; the others mark the profiler's own beginning and end.
func (b *builder) instant(e *kineto.Event) {
	bytes, isMemory := e.Int(kineto.MemoryBytes)
	if !isMemory || !e.HasTS() || b.scan.Names.String(e.Name) != "[memory]" || b.opt.Skip&SkipMemory != 0 {
		return
	}
	b.memory.add(rawMemory{time: e.TS, lane: b.lanes.find(e.PID, e.TID, model.LaneThread), addr: uint64(e.IntOr(kineto.Addr, 0)),
		bytes: bytes, allocated: e.IntOr(kineto.Allocated, 0), reserved: e.IntOr(kineto.Reserved, 0),
		deviceType: int8(e.IntOr(kineto.DeviceType, 0)), deviceIndex: int8(e.IntOr(kineto.DeviceID, -1))})
}
