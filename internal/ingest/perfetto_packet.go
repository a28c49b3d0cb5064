package ingest

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// perfettoReader collects what the packets of a trace say.
type perfettoReader struct {
	b         *rowBuilder
	profile   stackProfile
	threads   map[int64]*profileThread
	sequences map[uint64]*perfettoSequence
	tracks    map[uint64]*perfettoTrack
	clocks    map[perfettoClock]perfettoOffset
	frequency float64 // of CPU samples; 0 unknown
	state     int     // entries of all tables
	samples   int

	packets, bad, large, lost, over int64
	cut, broken                     bool
}

// perfettoClock is a clock; numbers 64 to 127 mean another clock in each sequence.
type perfettoClock struct{ sequence, id uint64 }

// perfettoOffset turns times of a clock into those of the trace.
type perfettoOffset struct {
	add, multiply int64
	steps         bool // each time counts from the one before
	last          int64
}

// perfettoSequence is one writer of packets, with what its packets refer to.
type perfettoSequence struct {
	id         uint64
	valid      bool // its tables are whole
	track      uint64
	clock      uint64
	pid, tid   int64 // of packets without a track
	reference  int64 // microseconds from which older events count
	names      map[uint64]kineto.Text
	categories map[uint64]string
	keys       map[uint64]string
	functions  map[uint64]string
	files      map[uint64]string
	mappings   map[uint64][]uint64
	frames     map[uint64]perfettoFrame
	stacks     map[uint64][]uint64
	resolved   map[uint64]model.StackID
}

type perfettoFrame struct {
	function, mapping, file, line, pc uint64
}

// perfettoTrack is a row of slices, or a counter.
type perfettoTrack struct {
	name        string
	parent      uint64
	pid, tid    int64
	thread      bool
	known       bool // its lane was made
	lane        model.LaneID
	unit        string
	multiplier  float64
	incremental bool
	value       float64
	open        []perfettoSlice
}

// perfettoSlice is a slice that has begun.
type perfettoSlice struct {
	start    int64
	name     kineto.Text
	category string
	args     perfettoArgs
}

// perfettoArgs are the annotations of a slice that say where work of a device ran.
type perfettoArgs struct {
	device, stream, correlation, bytes int64
	placed                             bool
}

func newPerfettoReader() *perfettoReader {
	return &perfettoReader{b: newRowBuilder(), threads: map[int64]*profileThread{}, sequences: map[uint64]*perfettoSequence{},
		tracks: map[uint64]*perfettoTrack{}, clocks: map[perfettoClock]perfettoOffset{}}
}

// room says whether one more entry of a table can be kept.
func (p *perfettoReader) room() bool {
	if p.state >= maxPerfettoState {
		p.over++
		return false
	}
	p.state++
	return true
}

func (p *perfettoReader) sequence(id uint64) *perfettoSequence {
	s := p.sequences[id]
	if s == nil {
		s = &perfettoSequence{id: id}
		s.clear()
		if p.room() {
			p.sequences[id] = s
		}
	}
	return s
}

func (s *perfettoSequence) clear() {
	s.names, s.categories, s.keys = map[uint64]kineto.Text{}, map[uint64]string{}, map[uint64]string{}
	s.functions, s.files, s.mappings = map[uint64]string{}, map[uint64]string{}, map[uint64][]uint64{}
	s.frames, s.stacks, s.resolved = map[uint64]perfettoFrame{}, map[uint64][]uint64{}, map[uint64]model.StackID{}
	s.track, s.clock = 0, 0
}

// perfettoPacket is one packet, its parts still encoded.
type perfettoPacket struct {
	timestamp, clock, sequence, flags                                         uint64
	timed, clocked, cleared, dropped                                          bool
	interned, defaults, event, track, snapshot, sample, samples, thread, tree []byte
	bundle                                                                    []byte
}

// Flags of a packet.
const (
	perfettoCleared = 1
	perfettoNeeds   = 2
)

func (p *perfettoReader) packet(text []byte, depth int) {
	var k perfettoPacket
	ok := protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 8:
			k.timestamp, k.timed = v, true
		case 58:
			k.clock, k.clocked = v, true
		case 10:
			k.sequence = v
		case 13:
			k.flags = v
		case 41:
			k.cleared = v != 0
		case 42:
			k.dropped = v != 0
		case 2:
			k.tree = b
		case 6:
			k.snapshot = b
		case 11:
			k.event = b
		case 12:
			k.interned = b
		case 44:
			k.thread = b
		case 50:
			k.bundle = b
		case 54:
			k.samples = b
		case 59:
			k.defaults = b
		case 60:
			k.track = b
		case 66:
			k.sample = b
		}
	})
	if !ok {
		p.bad++
		return
	}
	p.packets++
	if k.bundle != nil {
		p.bundle(k.bundle, depth)
		return
	}
	s := p.sequence(k.sequence)
	if k.dropped {
		s.valid = false
	}
	if k.cleared || k.flags&perfettoCleared != 0 {
		s.clear()
		s.valid = true
	}
	if k.flags&perfettoNeeds != 0 && !s.valid {
		p.lost++
		return
	}
	p.take(s, &k)
}

// take reads the parts of a packet, those first that others refer to.
func (p *perfettoReader) take(s *perfettoSequence, k *perfettoPacket) {
	if k.interned != nil {
		p.intern(s, k.interned)
	}
	if k.defaults != nil {
		p.defaults(s, k.defaults)
	}
	if k.snapshot != nil {
		p.snapshot(s, k.snapshot)
	}
	if k.thread != nil {
		p.threadOf(s, k.thread)
	}
	if k.track != nil {
		p.describe(k.track)
	}
	if k.tree != nil {
		p.tree(k.tree)
	}
	if k.event == nil && k.sample == nil && k.samples == nil {
		return
	}
	clock := k.clock
	if !k.clocked {
		clock = s.clock
	}
	at := p.time(s, clock, int64(min(k.timestamp, math.MaxInt64)))
	switch {
	case k.event != nil:
		p.event(s, k.event, at, k.timed)
	case k.sample != nil:
		p.cpuSample(s, k.sample)
	default:
		p.streamed(s, k.samples)
	}
}

// bootClock is the clock that times are in where nothing else is said.
const bootClock = 6

func (p *perfettoReader) time(s *perfettoSequence, clock uint64, at int64) int64 {
	if clock == 0 {
		clock = bootClock
	}
	key := perfettoClock{id: clock}
	if clock >= 64 && clock < 128 {
		key.sequence = s.id
	}
	o, known := p.clocks[key]
	if !known {
		return at
	}
	if o.multiply > 1 && at < math.MaxInt64/o.multiply {
		at *= o.multiply
	}
	if o.steps {
		at += o.last
		o.last = at
		p.clocks[key] = o
	}
	return at + o.add
}

// snapshot reads what several clocks said at one moment. Times of the trace are those of the calendar's clock where it is there.
func (p *perfettoReader) snapshot(s *perfettoSequence, text []byte) {
	type reading struct {
		id, at, multiply uint64
		steps            bool
	}
	var list []reading
	protoFields(text, func(number protowire.Number, _ uint64, b []byte) {
		if number != 1 || b == nil || len(list) >= 64 {
			return
		}
		r := reading{multiply: 1}
		protoFields(b, func(number protowire.Number, v uint64, _ []byte) {
			switch number {
			case 1:
				r.id = v
			case 2:
				r.at = v
			case 3:
				r.steps = v != 0
			case 4:
				r.multiply = max(v, 1)
			}
		})
		list = append(list, r)
	})
	base, found := int64(0), false
	for _, want := range []uint64{1, bootClock} { // the calendar's, else the one that other times are in
		for _, r := range list {
			if r.id == want && !found && r.at < math.MaxInt64/2 {
				base, found = int64(r.at), true
				if o, known := p.clocks[perfettoClock{id: bootClock}]; want == bootClock && known {
					base += o.add
				}
			}
		}
	}
	for _, r := range list {
		if !found || r.at > math.MaxInt64/4/min(r.multiply, 1<<20) || r.multiply > 1<<20 || !p.room() {
			continue
		}
		key := perfettoClock{id: r.id}
		if r.id >= 64 && r.id < 128 {
			key.sequence = s.id
		}
		at := int64(r.at * r.multiply)
		p.clocks[key] = perfettoOffset{add: base - at, multiply: int64(r.multiply), steps: r.steps, last: at}
	}
}

func (p *perfettoReader) defaults(s *perfettoSequence, text []byte) {
	protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 58:
			s.clock = v
		case 11:
			protoFields(b, func(number protowire.Number, v uint64, _ []byte) {
				if number == 11 {
					s.track = v
				}
			})
		case 12: // of CPU samples: the frequency of their time base
			protoFields(b, func(number protowire.Number, _ uint64, b []byte) {
				if number != 1 {
					return
				}
				protoFields(b, func(number protowire.Number, v uint64, _ []byte) {
					if number == 2 && v > 0 && v < 1e9 {
						p.frequency = float64(v)
					}
				})
			})
		}
	})
}

// intern keeps what later packets of the sequence refer to by number.
func (p *perfettoReader) intern(s *perfettoSequence, text []byte) {
	protoFields(text, func(number protowire.Number, _ uint64, b []byte) {
		if b == nil || number != 1 && number != 2 && number != 3 && number != 5 && number != 6 && number != 7 && number != 17 &&
			number != 18 && number != 19 || !p.room() {
			return
		}
		var id uint64
		var name []byte
		var numbers [9]uint64
		var list []uint64
		protoFields(b, func(field protowire.Number, v uint64, b []byte) {
			switch {
			case field == 1:
				id = v
			case field == 2 && number == 7, field == 7 && number == 19:
				protoNumbers(v, b, func(v uint64) {
					if len(list) < maxProfileDepth {
						list = append(list, v)
					}
				})
			case field == 2 && b != nil:
				name = b
			case field < 9:
				numbers[field] = v
			}
		})
		switch value := strings.ToValidUTF8(string(name), "\uFFFD"); number {
		case 1:
			s.categories[id] = value
		case 2:
			s.names[id] = p.b.text(value)
		case 3:
			s.keys[id] = value
		case 5:
			s.functions[id] = value
		case 17, 18:
			s.files[id<<1|uint64(number-17)] = value
		case 6:
			s.frames[id] = perfettoFrame{function: numbers[2], mapping: numbers[3], pc: numbers[4], file: numbers[5], line: numbers[6]}
		case 7:
			s.stacks[id] = list
		case 19:
			s.mappings[id] = list
		}
	})
}

func (p *perfettoReader) threadOf(s *perfettoSequence, text []byte) {
	protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 1:
			s.pid = int64(int32(v))
		case 2:
			s.tid = int64(int32(v))
		case 5:
			p.b.nameThread(s.pid, s.tid, strings.ToValidUTF8(string(b), "\uFFFD"))
		case 6:
			s.reference = int64(min(v, math.MaxInt64/2000))
		}
	})
}

func (p *perfettoReader) trackOf(uuid uint64) *perfettoTrack {
	t := p.tracks[uuid]
	if t == nil {
		t = &perfettoTrack{}
		if p.room() {
			p.tracks[uuid] = t
		}
	}
	return t
}

// describe reads a track's description, which may come again with more.
func (p *perfettoReader) describe(text []byte) {
	var uuid uint64
	protoFields(text, func(number protowire.Number, v uint64, _ []byte) {
		if number == 1 {
			uuid = v
		}
	})
	t := p.trackOf(uuid)
	protoFields(text, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 5:
			t.parent = v
		case 2, 10, 13:
			t.name = strings.ToValidUTF8(string(b), "\uFFFD")
		case 3:
			protoFields(b, func(number protowire.Number, v uint64, b []byte) {
				switch number {
				case 1:
					t.pid = int64(int32(v))
				case 6:
					t.name = strings.ToValidUTF8(string(b), "\uFFFD")
				}
			})
		case 4:
			t.thread = true
			name := ""
			protoFields(b, func(number protowire.Number, v uint64, b []byte) {
				switch number {
				case 1:
					t.pid = int64(int32(v))
				case 2:
					t.tid = int64(int32(v))
				case 5:
					name = strings.ToValidUTF8(string(b), "\uFFFD")
				}
			})
			p.b.nameThread(t.pid, t.tid, name)
			if t.name == "" {
				t.name = name
			}
		case 8:
			protoFields(b, func(number protowire.Number, v uint64, b []byte) {
				switch number {
				case 3:
					t.unit = [...]string{"", "ns", "count", "bytes"}[min(v, 3)]
				case 4:
					t.multiplier = float64(int64(v))
				case 5:
					t.incremental = v != 0
				case 6:
					t.unit = strings.ToValidUTF8(string(b), "\uFFFD")
				}
			})
		}
	})
}

// tree names threads of processes that the system's own recording saw.
func (p *perfettoReader) tree(text []byte) {
	protoFields(text, func(number protowire.Number, _ uint64, b []byte) {
		if number != 2 || b == nil {
			return
		}
		var pid, tid int64
		name := ""
		protoFields(b, func(number protowire.Number, v uint64, b []byte) {
			switch number {
			case 1:
				tid = int64(int32(v))
			case 2:
				name = strings.ToValidUTF8(string(b), "\uFFFD")
			case 3:
				pid = int64(int32(v))
			}
		})
		p.b.nameThread(pid, tid, name)
	})
}
