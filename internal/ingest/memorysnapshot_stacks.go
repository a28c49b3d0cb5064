package ingest

import (
	"runtime/debug"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// column is a table that grows in chunks, so that nothing is copied while it grows.
type column[T any] struct {
	chunks [][]T
	n      int
}

const columnChunk = 1 << 13

// add appends a row and returns its number.
func (c *column[T]) add(v T) int {
	if c.n == len(c.chunks)*columnChunk {
		c.chunks = append(c.chunks, make([]T, columnChunk))
	}
	c.chunks[c.n/columnChunk][c.n%columnChunk] = v
	c.n++
	return c.n - 1
}

func (c *column[T]) at(i int) *T { return &c.chunks[i/columnChunk][i%columnChunk] }

// appendTo copies rows to the end of a slice.
func (c *column[T]) appendTo(out []T, from, to int) []T {
	for from < to {
		chunk := c.chunks[from/columnChunk][from%columnChunk:]
		chunk = chunk[:min(len(chunk), to-from)]
		out = append(out, chunk...)
		from += len(chunk)
	}
	return out
}

// move is appendTo that forgets the rows, chunk by chunk: for large tables there is no memory for both.
func (c *column[T]) move(from, to int) []T {
	out := make([]T, 0, to-from)
	for n := 0; from < to; n++ {
		next := min((from/columnChunk+1)*columnChunk, to)
		out = c.appendTo(out, from, next)
		if next%columnChunk == 0 {
			c.chunks[from/columnChunk] = nil
		}
		if from = next; n%1024 == 1023 {
			debug.FreeOSMemory()
		}
	}
	return out
}

// stackTable keeps each sequence of frames once, innermost first.
type stackTable struct {
	frames []int32
	start  []int32 // by stack, and the end of the last
	first  map[uint64]int32
	next   []int32 // the next stack with the same hash, -1 none
}

func newStackTable() stackTable { return stackTable{start: []int32{0}, first: map[uint64]int32{}} }

func (t *stackTable) of(id int32) []int32 { return t.frames[t.start[id]:t.start[id+1]] }

// intern is the number of a sequence; full where there are too many frames to keep it.
func (t *stackTable) intern(frames []int32) (id int32, full bool) {
	hash := uint64(14695981039346656037) // FNV-1a, by frame
	for _, f := range frames {
		hash = (hash ^ uint64(f)) * 1099511628211
		hash ^= hash >> 29
	}
	head, known := t.first[hash]
	if !known {
		head = -1
	}
	for id := head; id >= 0; id = t.next[id] {
		if slices.Equal(t.of(id), frames) {
			return id, false
		}
	}
	if len(t.frames)+len(frames) > maxSnapshotFrames {
		return 0, true
	}
	id = int32(len(t.next))
	t.frames = append(t.frames, frames...)
	t.start = append(t.start, int32(len(t.frames)))
	t.next = append(t.next, head)
	t.first[hash] = id
	return id, false
}

// store carries stacks and their texts over into the model.
func (s *snapshotReader) store(session *model.Session, m *model.MemorySnapshot) {
	text := func(index int) model.Str {
		return session.Strings.Intern(strings.ToValidUTF8(s.pickle.TextAt(index), "\uFFFD"))
	}
	for _, f := range s.frame {
		m.Stacks.Frames = append(m.Stacks.Frames, model.Frame{Function: text(f.name), File: text(f.file), Line: f.line,
			Native: f.line == 0})
	}
	ids := make([]model.StackID, len(s.stacks.next))
	tree := map[stackStep]model.StackID{}
	for id := range ids {
		at := model.NoStack
		for _, frame := range slices.Backward(s.stacks.of(int32(id))) {
			step := stackStep{at, model.FrameID(frame)}
			child, known := tree[step]
			if !known {
				child = model.StackID(len(m.Stacks.Frame))
				m.Stacks.Frame, m.Stacks.Parent = append(m.Stacks.Frame, step.frame), append(m.Stacks.Parent, at)
				tree[step] = child
			}
			at = child
		}
		ids[id] = at
	}
	moved := func(id *model.StackID) {
		if *id != model.NoStack {
			*id = ids[*id]
		}
	}
	for i := range m.Devices {
		d := &m.Devices[i]
		for k := range d.Segments {
			moved(&d.Segments[k].Stack)
		}
		for k := range d.Blocks {
			moved(&d.Blocks[k].Stack)
		}
		for k := range d.Events {
			moved(&d.Events[k].Stack)
		}
	}
	s.pickle, s.frames, s.stacks = nil, nil, stackTable{}
}
