package ingest

import (
	"math"
	"path"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// Types of track events.
const (
	perfettoBegin = 1
	perfettoEnd   = 2
	perfettoCount = 4
)

// perfettoEvent is one track event.
type perfettoEvent struct {
	kind, track, phase  uint64
	name                kineto.Text
	category            string
	value               float64
	dur                 int64 // microseconds of an event of the older form
	relative, absolute  int64 // microseconds
	shifted, positioned bool
	args                perfettoArgs
}

func (p *perfettoReader) event(s *perfettoSequence, text []byte, at int64, timed bool) {
	e := perfettoEvent{track: s.track, args: perfettoArgs{bytes: -1}}
	if !protoFields(text, func(number protowire.Number, v uint64, b []byte) { p.eventField(s, &e, number, v, b) }) {
		p.bad++
		return
	}
	switch {
	case e.positioned:
		at = e.absolute * 1e3
	case e.shifted && !timed:
		s.reference += e.relative
		at = s.reference * 1e3
	}
	t := p.trackOf(e.track)
	if e.track == 0 && !t.thread { // the thread that wrote it
		t = p.ownTrack(s)
	}
	switch kind := e.kind; {
	case kind == perfettoCount:
		p.counter(t, &e, at)
	case kind == perfettoBegin || e.phase == 'B':
		if len(t.open) >= maxPerfettoOpen {
			p.over++
			return
		}
		t.open = append(t.open, perfettoSlice{at, e.name, e.category, e.args})
	case kind == perfettoEnd || e.phase == 'E':
		if len(t.open) == 0 {
			p.b.skipped.add("end-without-begin", -1)
			return
		}
		slice := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		p.slice(t, &slice, at)
	case e.phase == 'X':
		p.slice(t, &perfettoSlice{at, e.name, e.category, e.args}, at+e.dur*1e3)
	}
}

// ownTrack is the track of a sequence that says its thread but no track.
func (p *perfettoReader) ownTrack(s *perfettoSequence) *perfettoTrack {
	t := p.trackOf(s.id ^ 1<<63)
	t.thread, t.pid, t.tid = true, s.pid, s.tid
	return t
}

func (p *perfettoReader) eventField(s *perfettoSequence, e *perfettoEvent, number protowire.Number, v uint64, b []byte) {
	switch number {
	case 9:
		e.kind = v
	case 11:
		e.track = v
	case 10:
		e.name = s.names[v]
	case 23:
		e.name = p.b.text(strings.ToValidUTF8(string(b), "\uFFFD"))
	case 3:
		protoNumbers(v, b, func(v uint64) { e.category = s.categories[v] })
	case 22:
		e.category = strings.ToValidUTF8(string(b), "\uFFFD")
	case 30:
		e.value = float64(int64(v))
	case 44:
		e.value = math.Float64frombits(v)
	case 1:
		e.relative, e.shifted = min(int64(v), math.MaxInt64/2000), true
	case 16:
		e.absolute, e.positioned = min(int64(v), math.MaxInt64/2000), true
	case 6:
		protoFields(b, func(number protowire.Number, v uint64, _ []byte) {
			switch number {
			case 1:
				if e.name == 0 {
					e.name = s.names[v]
				}
			case 2:
				e.phase = v
			case 3:
				e.dur = int64(min(v, math.MaxInt64/4000))
			}
		})
	case 4:
		p.annotation(s, e, b)
	}
}

// annotation takes what says where work of a device ran.
func (p *perfettoReader) annotation(s *perfettoSequence, e *perfettoEvent, text []byte) {
	key, value, ok := "", int64(0), false
	protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 1:
			key = s.keys[v]
		case 10:
			key = string(b)
		case 3, 4:
			value, ok = int64(v), true
		}
	})
	if !ok {
		return
	}
	switch key {
	case "device", "device_id", "agent_id":
		e.args.device, e.args.placed = value, true
	case "stream", "stream_id", "queue":
		e.args.stream, e.args.placed = value, true
	case "correlation", "correlation_id", "corr_id":
		e.args.correlation = value
	case "bytes":
		e.args.bytes = value
	}
}

func (p *perfettoReader) counter(t *perfettoTrack, e *perfettoEvent, at int64) {
	if e.value != e.value || at < 0 {
		return
	}
	if t.incremental {
		t.value += e.value
		e.value = t.value
	}
	if t.multiplier > 1 {
		e.value *= t.multiplier
	}
	unit := t.unit
	if unit == "" {
		unit = "value"
	}
	name := t.name
	if name == "" {
		name = "counter"
	}
	p.b.builder.counters.add(rawCounter{at, p.b.text(name), p.b.text(unit), number(p.process(t)), e.value})
	p.b.total++
}

// process is the process of a track: its own, or that of a track above it.
func (p *perfettoReader) process(t *perfettoTrack) int64 {
	for depth := 0; t != nil && depth < 16; depth++ {
		if t.pid != 0 || t.parent == 0 {
			return t.pid
		}
		t = p.tracks[t.parent]
	}
	return 0
}

// perfettoCategories are categories of tools that write Perfetto traces beside those of Kineto.
var perfettoCategories = map[string]string{"kernel_dispatch": "kernel", "memory_copy": "gpu_memcpy", "hip_runtime_api": "cuda_runtime",
	"hip_api": "cuda_runtime", "marker_api": "user_annotation", "concurrent_kernel": "kernel", "fee": "python_function"}

// slice adds a slice that has ended.
func (p *perfettoReader) slice(t *perfettoTrack, s *perfettoSlice, end int64) {
	category := lower(s.category)
	if other, ok := perfettoCategories[category]; ok {
		category = other
	}
	kind := categories[category]
	lane := p.lane(t)
	detail := int32(-1)
	switch kind {
	case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindSync, model.KindGPUAnnotation:
		device, stream := s.args.device, s.args.stream
		if !s.args.placed {
			stream = int64(lane)
		}
		args := noWork(device, stream)
		args.Bytes = s.args.bytes
		lane, detail = p.b.stream(device, stream), p.b.work(s.args.correlation, args)
	case model.KindRuntime:
		detail = p.b.call(s.args.correlation)
	case model.KindOp, model.KindAnnotation:
		detail = p.b.operator(&nvtxRange{sequence: -1})
	}
	if category == "" {
		category = "slice"
	}
	p.b.event(category, kind, lane, s.start, end, s.name, detail)
}

func (p *perfettoReader) lane(t *perfettoTrack) model.LaneID {
	if !t.known {
		t.known = true
		if t.thread {
			t.lane = p.b.thread(t.pid, t.tid)
		} else {
			t.lane = p.b.aside(p.process(t), int64(len(p.b.lanes.list)))
		}
	}
	return t.lane
}

// cpuSample reads a sample that the system took of a thread.
func (p *perfettoReader) cpuSample(s *perfettoSequence, text []byte) {
	var pid, tid int64
	var stack uint64
	protoFields(text, func(number protowire.Number, v uint64, _ []byte) {
		switch number {
		case 2:
			pid = int64(int32(v))
		case 3:
			tid = int64(int32(v))
		case 4:
			stack = v
		}
	})
	p.sample(s, pid, tid, stack)
}

// streamed reads samples that a thread's own sampler took.
func (p *perfettoReader) streamed(s *perfettoSequence, text []byte) {
	protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		if number == 1 {
			protoNumbers(v, b, func(stack uint64) { p.sample(s, s.pid, s.tid, stack) })
		}
	})
}

func (p *perfettoReader) sample(s *perfettoSequence, pid, tid int64, stack uint64) {
	if p.samples >= maxPerfettoSamples {
		p.over++
		return
	}
	id, known := s.resolved[stack]
	if !known {
		id = model.NoStack
		for _, frame := range s.stacks[stack] {
			next, err := p.profile.push(id, p.frame(s, frame))
			if err != nil {
				p.over++
				return
			}
			id = next
		}
		s.resolved[stack] = id
	}
	if id == model.NoStack {
		p.lost++
		return
	}
	key := pid<<32 | tid&(1<<32-1)
	t := p.threads[key]
	if t == nil {
		if !p.room() {
			return
		}
		name := ""
		if text := p.b.lanes.names[laneKey{number(pid), number(tid), model.LaneThread}]; text != 0 {
			name = p.b.scan.Names.String(text)
		}
		t = p.profile.thread(name)
		p.threads[key] = t
	}
	p.samples++
	p.profile.add(t, id, 1)
}

// frame is a function of a stack; where its name is not known, the library it is in.
func (p *perfettoReader) frame(s *perfettoSequence, id uint64) model.FrameID {
	f := s.frames[id]
	name, file := s.functions[f.function], s.files[f.file<<1|1]
	if list := s.mappings[f.mapping]; file == "" && len(list) > 0 {
		parts := make([]string, 0, len(list))
		for _, part := range list[:min(len(list), 64)] {
			parts = append(parts, s.files[part<<1])
		}
		file = strings.Join(parts, "/")
	}
	if name == "" {
		if name = "unknown"; file != "" {
			name = path.Base(file)
		}
	}
	return p.profile.frame(name, file, 0, int32(min(f.line, math.MaxInt32)))
}

// samplePeriod is what one CPU sample stands for, in nanoseconds; 0 where the file does not say.
func (p *perfettoReader) samplePeriod() float64 {
	p.profile.period = 1
	if p.frequency <= 0 {
		return 0
	}
	return 1e9 / p.frequency
}
