package ingest

import (
	"runtime/debug"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// rows is a column that grows in chunks: nothing is copied while it grows, and its chunks are freed one by one while the
// rows move to where they stay.
type rows[T any] struct {
	full [][]T
	tail []T
	n    int
}

// The first chunk is small, since most files are; the others hold some hundred kilobytes.
const (
	firstChunk = 1 << 10
	chunkRows  = 16 << 10
)

// freeChunks is how many chunks are moved before their memory is given back: the columns fill up as these become free,
// and without this a trace of 4 GB would hold both.
const freeChunks = 32

// add appends a row and returns its number.
func (r *rows[T]) add(v T) int32 {
	if len(r.tail) == cap(r.tail) {
		r.next()
	}
	r.tail = append(r.tail, v)
	r.n++
	return int32(r.n - 1)
}

func (r *rows[T]) next() {
	if cap(r.tail) == 0 {
		r.tail = make([]T, 0, firstChunk)
		return
	}
	r.full = append(r.full, r.tail)
	r.tail = make([]T, 0, min(2*cap(r.tail), chunkRows))
}

// chunks are all rows in order.
func (r *rows[T]) chunks() [][]T { return append(r.full[:len(r.full):len(r.full)], r.tail) }

// drain hands over chunk after chunk and forgets it.
func (r *rows[T]) drain(take func([]T)) {
	all := r.chunks()
	*r = rows[T]{}
	for i, chunk := range all {
		take(chunk)
		all[i] = nil
		if i%freeChunks == freeChunks-1 {
			debug.FreeOSMemory()
		}
	}
}

// flat moves the rows into one slice.
func (r *rows[T]) flat() []T {
	if r.n == 0 {
		return nil
	}
	out := make([]T, 0, r.n)
	r.drain(func(chunk []T) { out = append(out, chunk...) })
	return out
}

// reset empties the column and keeps its last chunk for what comes.
func (r *rows[T]) reset() { r.full, r.tail, r.n = nil, r.tail[:0], 0 }

// stage holds what was read of a text, in its order, before it is put in order.
type stage struct {
	events   rows[rawEvent]
	ops      rows[model.OpDetail]
	python   rows[model.PythonDetail]
	runtime  rows[model.RuntimeDetail]
	device   rows[model.DeviceDetail]
	memory   rows[rawMemory]
	counters rows[rawCounter]
	ranges   rows[rawCounter] // counters of ranges; pid numbers the range
	ranged   int64            // ranges with counters
	total    int64            // events of any phase
	counts   []int64          // complete events by category text
	skipped  skips
}

// rawEvent is one complete event in the order of the file. Texts are still those of the scanner.
type rawEvent struct {
	start, dur int64
	name       kineto.Text
	lane       model.LaneID
	detail     int32
	kind       model.Kind
}

// rawMemory is one memory event in the order of the file.
type rawMemory struct {
	time, bytes, allocated, reserved int64
	addr                             uint64
	lane                             model.LaneID
	deviceType, deviceIndex          int8
}

type rawCounter struct {
	ts        int64
	name, key kineto.Text
	pid       kineto.ID
	value     float64
}

func newStage() *stage { return &stage{skipped: skips{}} }

// reset empties a stage for the next piece of text.
func (st *stage) reset() {
	st.events.reset()
	st.ops.reset()
	st.python.reset()
	st.runtime.reset()
	st.device.reset()
	st.memory.reset()
	st.counters.reset()
	st.ranges.reset()
	st.ranged = 0
	st.total = 0
	clear(st.counts)
	st.skipped = skips{}
}

// settle moves details and memory events into the trace's columns.
func (st *stage) settle(t *model.Trace) {
	ev := &t.Events
	ev.OpDetails, ev.PythonDetails = st.ops.flat(), st.python.flat()
	ev.RuntimeDetails, ev.DeviceDetails = st.runtime.flat(), st.device.flat()
	n := st.memory.n
	if n == 0 {
		return
	}
	t.Memory = model.MemoryEvents{Time: make([]model.Time, 0, n), Lane: make([]model.LaneID, 0, n), Addr: make([]uint64, 0, n),
		Bytes: make([]int64, 0, n), Allocated: make([]int64, 0, n), Reserved: make([]int64, 0, n),
		DeviceType: make([]int8, 0, n), DeviceIndex: make([]int8, 0, n)}
	st.memory.drain(func(chunk []rawMemory) {
		for i := range chunk {
			appendMemory(&t.Memory, &chunk[i])
		}
	})
}

func appendMemory(m *model.MemoryEvents, raw *rawMemory) {
	m.Time, m.Lane, m.Addr = append(m.Time, model.Time(raw.time)), append(m.Lane, raw.lane), append(m.Addr, raw.addr)
	m.Bytes, m.Allocated = append(m.Bytes, raw.bytes), append(m.Allocated, raw.allocated)
	m.Reserved = append(m.Reserved, raw.reserved)
	m.DeviceType, m.DeviceIndex = append(m.DeviceType, raw.deviceType), append(m.DeviceIndex, raw.deviceIndex)
}
