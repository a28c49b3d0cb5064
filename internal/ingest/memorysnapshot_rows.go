package ingest

import (
	"fmt"
	"io"
	"math"

	"bottleneck/internal/model"
	"bottleneck/internal/pickle"
)

// Bounds of a snapshot. A gigabyte of one has some five million events.
const (
	maxSnapshotRows    = 1 << 24 // events, blocks or segments
	maxSnapshotFrames  = 1 << 25 // in stacks that differ
	maxSnapshotDevices = 1024
)

// Keys and words of a snapshot, by their place in snapshotTexts.
const (
	keyAction = iota
	keyAddr
	keySize
	keyTime
	keyFrames
	keyDeviceFree
	keyFile
	keyLine
	keyName
	keyAddress
	keyRequested
	keyState
	keyTotal
	keyType
	keyPool
	keyExpandable
	keyBlocks
	keyDevice
	keyStream
	keyRealSize
	keyHistory
	numSnapshotKeys
)

var snapshotTexts = []string{"action", "addr", "size", "time_us", "frames", "device_free", "filename", "line", "name", "address",
	"requested_size", "state", "total_size", "segment_type", "segment_pool_id", "is_expandable", "blocks", "device", "stream",
	"real_size", "history"}

var allocatorActions = map[string]model.AllocatorAction{"alloc": model.ActionAlloc, "free_requested": model.ActionFreeRequested,
	"free": model.ActionFreeRequested, "free_completed": model.ActionFree, "segment_alloc": model.ActionSegmentAlloc,
	"segment_free": model.ActionSegmentFree, "segment_map": model.ActionSegmentMap, "segment_unmap": model.ActionSegmentUnmap,
	"snapshot": model.ActionSnapshot, "oom": model.ActionOOM}

var blockStates = map[string]model.BlockState{"active_allocated": model.BlockActive, "active_pending_free": model.BlockPending,
	"active_awaiting_free": model.BlockPending}

// snapshotFrame is a frame as the file has it, its texts by their index.
type snapshotFrame struct {
	file, name int
	line       int32
}

// snapshotSegment is a segment with the device that it says to be of.
type snapshotSegment struct {
	model.MemorySegment
	device int
}

// snapshotReader turns dictionaries into rows as they are read, and lists of frames into stacks.
type snapshotReader struct {
	pickle   *pickle.Reader
	fields   [numSnapshotKeys]pickle.Value
	has      [numSnapshotKeys]bool
	frames   map[snapshotFrame]int32
	frame    []snapshotFrame
	stacks   stackTable
	events   column[model.AllocatorEvent]
	blocks   column[model.MemoryBlock]
	segments column[snapshotSegment]
	runs     column[rowRun]
	sameRow  []int32
	odd      skips
	over     error
}

func newSnapshotReader(in io.Reader) *snapshotReader {
	s := &snapshotReader{frames: map[snapshotFrame]int32{}, stacks: newStackTable(), odd: skips{}}
	s.pickle = pickle.NewReader(in, pickle.Options{Rows: s, Texts: snapshotTexts})
	return s
}

// The kinds of rows, in the low bits of a pickle's row.
const (
	rowFrame = iota
	rowStack
	rowEvent
	rowBlock
	rowSegment
	rowList // of rows of one kind that follow each other: a rowRun
)

const rowBits = 3

func rowOf(kind, index int) pickle.Value { return pickle.Row(index<<rowBits | kind) }

func rowParts(v pickle.Value) (kind, index int, ok bool) {
	n, ok := v.AsRow()
	return n & (1<<rowBits - 1), n >> rowBits, ok
}

// rowRun is a list of rows.
type rowRun struct{ kind, from, to int32 }

// Dict takes over frames, events, blocks and segments.
func (s *snapshotReader) Dict(pairs []pickle.Value) (pickle.Value, bool) {
	clear(s.has[:])
	for i := 0; i+1 < len(pairs); i += 2 {
		if k, ok := pairs[i].TextIndex(); ok && k < numSnapshotKeys {
			s.fields[k], s.has[k] = pairs[i+1], true
		}
	}
	switch {
	case s.has[keyFile] && s.has[keyName]:
		return rowOf(rowFrame, int(s.frameRow())), true
	case s.has[keyAction]:
		return s.bounded(rowEvent, s.events.add(s.event())), true
	case s.has[keyBlocks] && s.has[keyTotal]:
		return s.bounded(rowSegment, s.segments.add(s.segment())), true
	case s.has[keyState] && s.has[keySize]:
		return s.bounded(rowBlock, s.blocks.add(s.block())), true
	case s.has[keyRealSize]: // an entry of a block's history, up to PyTorch 2.0
		return rowOf(rowStack, int(s.stack(keyFrames))), true
	}
	return 0, false
}

// bounded notes that a table has grown beyond its bound.
func (s *snapshotReader) bounded(kind, index int) pickle.Value {
	if index >= maxSnapshotRows {
		s.over = fmt.Errorf("more than %d events, blocks or segments", maxSnapshotRows)
	}
	return rowOf(kind, index)
}

// List takes over lists of rows.
func (s *snapshotReader) List(before pickle.Value, items []pickle.Value) (pickle.Value, bool) {
	if s.over != nil || len(items) == 0 {
		return 0, false
	}
	kind, _, ok := rowParts(items[0])
	s.sameRow = s.sameRow[:0]
	for _, v := range items {
		k, index, isRow := rowParts(v)
		if !ok || !isRow || k != kind {
			return 0, false
		}
		s.sameRow = append(s.sameRow, int32(index))
	}
	switch kind {
	case rowFrame:
		if _, stack, grows := rowParts(before); grows {
			s.sameRow = append(append([]int32{}, s.stacks.of(int32(stack))...), s.sameRow...)
		}
		id, full := s.stacks.intern(s.sameRow)
		if full {
			s.over = fmt.Errorf("more than %d frames in different stacks", maxSnapshotFrames)
		}
		return rowOf(rowStack, int(id)), true
	case rowStack:
		return items[0], true // of a history, the newest
	case rowEvent, rowBlock, rowSegment:
		return s.run(before, kind, s.sameRow), true
	}
	return 0, false
}

// run is the list of rows, which mostly follow each other; where they do not, copies of them do.
func (s *snapshotReader) run(before pickle.Value, kind int, rows []int32) pickle.Value {
	run := rowRun{int32(kind), rows[0], rows[0]}
	_, at, grows := rowParts(before)
	if grows {
		run = *s.runs.at(at)
	}
	for _, row := range rows {
		if row != run.to {
			run = s.moved(run)
			row = s.copied(kind, row)
		}
		run.to = row + 1
	}
	if !grows {
		at = s.runs.add(run)
	}
	*s.runs.at(at) = run
	return rowOf(rowList, at)
}

// moved copies a run to the end of its table, unless it is there.
func (s *snapshotReader) moved(run rowRun) rowRun {
	end := int32(map[int32]int{rowEvent: s.events.n, rowBlock: s.blocks.n, rowSegment: s.segments.n}[run.kind])
	if run.to == end {
		return run
	}
	out := rowRun{run.kind, end, end}
	for i := run.from; i < run.to && s.over == nil; i++ {
		out.to = s.copied(int(run.kind), i) + 1
	}
	return out
}

func (s *snapshotReader) copied(kind int, row int32) int32 {
	index := 0
	switch kind {
	case rowEvent:
		index = s.events.add(*s.events.at(int(row)))
	case rowBlock:
		index = s.blocks.add(*s.blocks.at(int(row)))
	case rowSegment:
		index = s.segments.add(*s.segments.at(int(row)))
	}
	s.bounded(kind, index)
	return int32(index)
}

// int is a field's number; one that no memory has is counted and taken as 0.
func (s *snapshotReader) int(key int) int64 {
	if !s.has[key] {
		return 0
	}
	n, exact := s.pickle.Int(s.fields[key])
	if !exact {
		s.odd.add("absurd-number", -1)
		return 0
	}
	return n
}

// bytes is a field's size, which is not negative.
func (s *snapshotReader) bytes(key int) int64 {
	n := s.int(key)
	if n < 0 || n > maxSnapshotBytes {
		s.odd.add("absurd-number", -1)
		return 0
	}
	return n
}

// maxSnapshotBytes is more than any device has, and so little that sums of it stay within 64 bits.
const maxSnapshotBytes = 1 << 50

func (s *snapshotReader) word(key int) string {
	text := ""
	if s.has[key] {
		text, _ = s.pickle.Text(s.fields[key])
	}
	return text
}

func (s *snapshotReader) frameRow() int32 {
	file, _ := s.fields[keyFile].TextIndex()
	name, _ := s.fields[keyName].TextIndex()
	f := snapshotFrame{file: file, name: name, line: int32(min(max(s.int(keyLine), 0), math.MaxInt32))}
	id, known := s.frames[f]
	if !known {
		id = int32(len(s.frame))
		s.frames[f] = id
		s.frame = append(s.frame, f)
	}
	return id
}

// stack is the stack in a field, NoStack where it has none.
func (s *snapshotReader) stack(key int) model.StackID {
	if s.has[key] {
		if kind, index, ok := rowParts(s.fields[key]); ok && kind == rowStack {
			return model.StackID(index)
		}
	}
	return model.NoStack
}

func (s *snapshotReader) event() model.AllocatorEvent {
	e := model.AllocatorEvent{Action: allocatorActions[s.word(keyAction)], Addr: uint64(s.int(keyAddr)), Size: s.bytes(keySize),
		Stack: s.stack(keyFrames)}
	if us := s.int(keyTime); us > 0 && us < latest/1000 {
		e.Time = model.Time(us * 1000)
	}
	if e.Action == model.ActionOOM {
		e.Addr = uint64(s.bytes(keyDeviceFree))
	}
	return e
}

func (s *snapshotReader) block() model.MemoryBlock {
	b := model.MemoryBlock{Addr: uint64(s.int(keyAddress)), Size: s.bytes(keySize), Requested: s.bytes(keyRequested),
		State: blockStates[s.word(keyState)], Stack: s.stack(keyFrames)}
	if b.Stack == model.NoStack {
		b.Stack = s.stack(keyHistory)
	}
	return b
}

func (s *snapshotReader) segment() snapshotSegment {
	g := snapshotSegment{device: int(min(max(s.int(keyDevice), 0), maxSnapshotDevices-1))}
	g.Addr, g.Size, g.Stream = uint64(s.int(keyAddress)), s.bytes(keyTotal), s.int(keyStream)
	g.Large, g.Stack = s.word(keyType) == "large", s.stack(keyFrames)
	g.Expandable, _ = s.pickle.Bool(s.fields[keyExpandable])
	g.Expandable = g.Expandable && s.has[keyExpandable]
	if pool, ok := s.pickle.List(s.fields[keyPool]); ok && s.has[keyPool] {
		for _, v := range pool {
			n, _ := s.pickle.Int(v)
			g.Private = g.Private || n != 0
		}
	}
	if kind, index, ok := rowParts(s.fields[keyBlocks]); ok && kind == rowList && s.runs.at(index).kind == rowBlock {
		g.FirstBlock, g.EndBlock = s.runs.at(index).from, s.runs.at(index).to
	}
	return g
}
