package cpython

import (
	"fmt"

	"bottleneck/internal/proc"
)

// slack is what is read of a data-stack chunk beyond the last known top, for frames that were pushed since.
const slack = 768

// attempts is how often a stack is read in one snapshot before a fault is accepted.
const attempts = 10

// threadState is what is known of one thread between snapshots: copies of its memory and its last stack.
type threadState struct {
	addr   uint64
	head   []byte // PyThreadState
	begin  int    // index of its first range in the batch
	fresh  bool   // the batch covered it
	seen   int64  // tick at which it was in a list
	whole  bool   // its last stack was read without fault
	still  bool   // it has not run since
	next   [8]byte
	mayEnd bool    // the thread behind it in the list may have ended
	moving []*Code // of the frames that moved last

	cframe  uint64 // of 3.11 and 3.12
	current [8]byte
	after   [8]byte // the current frame once more, read after everything else
	hasEnd  bool

	chunks []chunk // newest first
	singles,
	spare []single // frames outside of the data stack: on the C stack, in generators, or objects (to 3.10)

	near   near         // how the singles are read in a batch
	ranges []proc.Range // theirs

	frames, prev []RawFrame
	addrs, prevA []uint64 // addresses of the frames
	root, maybe  uint64   // outermost frame: the last one, and one that was seen in one snapshot,
	maybeAt      int64    // this one
	loose        bool     // some frame of the last walk lies outside of the data stack
	late         bool     // a chunk was copied during the last walk
}

// chunk is a copy of the used part of one _PyStackChunk: previous, size and top (8 bytes each), then frames.
type chunk struct {
	addr uint64
	buf  []byte
	end  int // bytes that the last walk needed
	used bool
}

type single struct {
	addr  uint64
	buf   []byte
	used  bool
	valid bool
}

const chunkHeader = 24

func newThreadState(addr uint64, l *Layout) *threadState {
	return &threadState{addr: addr, head: make([]byte, l.Thread.Size)}
}

// predict appends the ranges where the thread's state and frames were last time.
func (t *threadState) predict(l *Layout, ranges []proc.Range) []proc.Range {
	t.prune()
	t.ranges = t.ranges[:0]
	for i := range t.singles {
		t.singles[i].valid = true
		t.ranges = append(t.ranges, proc.Range{Addr: t.singles[i].addr, Buf: t.singles[i].buf})
	}
	ranges = append(ranges, t.near.merge(t.ranges)...)
	for i := len(t.chunks) - 1; i > 0; i-- {
		ranges = append(ranges, proc.Range{Addr: t.chunks[i].addr, Buf: t.chunks[i].buf})
	}
	ranges = append(ranges, proc.Range{Addr: t.addr, Buf: t.head})
	t.hasEnd = false
	if l.Frame.Heap {
		return ranges
	}
	at := t.addr + uint64(l.Thread.Frame)
	if l.Thread.CFrame != none {
		if t.cframe == 0 {
			return ranges
		}
		at = t.cframe + uint64(l.Thread.CFrame)
		ranges = append(ranges, proc.Range{Addr: at, Buf: t.current[:]})
	}
	if len(t.chunks) > 0 {
		ranges = append(ranges, proc.Range{Addr: t.chunks[0].addr, Buf: t.chunks[0].buf})
	}
	t.hasEnd = true
	return append(ranges, proc.Range{Addr: at, Buf: t.after[:]})
}

// prune forgets copies that the last walk did not need and sets the lengths of the others.
func (t *threadState) prune() {
	kept := t.singles[:0]
	for _, s := range t.singles {
		if s.used {
			s.used = false
			kept = append(kept, s)
		} else if len(t.spare) < 64 {
			t.spare = append(t.spare, s)
		}
	}
	t.singles = kept
	chunks := t.chunks[:0]
	for _, c := range t.chunks {
		if c.used {
			c.used = false
			c.resize(c.end + slack)
			chunks = append(chunks, c)
		}
	}
	t.chunks = chunks
}

// resize sets the length of the copy, within the chunk's own size and the cap.
func (c *chunk) resize(n int) {
	if len(c.buf) >= chunkHeader {
		if size := word(c.buf, 8); size < uint64(n) {
			n = max(int(size), chunkHeader)
		}
	}
	n = min(n, maxChunk)
	if cap(c.buf) < n {
		grown := make([]byte, n, n+n/2)
		copy(grown, c.buf)
		c.buf = grown
	}
	c.buf = c.buf[:n]
}

// readThread reads a thread whose prediction failed, from nothing.
func (r *Reader) readThread(t *threadState) error {
	t.chunks, t.singles, t.cframe, t.hasEnd = t.chunks[:0], t.singles[:0], 0, false
	if err := r.mem.Read(t.addr, t.head); err != nil {
		return fmt.Errorf("thread state at %#x: %w", t.addr, err)
	}
	t.fresh = true
	return nil
}

// stack walks a thread's frames in the copies; where they do not fit together it reads again, a few times.
func (r *Reader) stack(t *threadState, out *ThreadSample) {
	try := 1
	for ; ; try++ {
		cur, ok := r.currentFrame(t)
		out.Fault, out.Cut, out.Moved = FaultMemory, false, false
		if ok {
			out.Fault = r.walk(t, cur, out)
			out.Moved = t.hasEnd && word(t.after[:], 0) != cur
		}
		if out.Fault == FaultNone && r.l.Frame.Heap {
			r.verifyObjects(t, out)
		}
		if out.Fault == FaultNone && !out.Cut && !r.rooted(t) {
			out.Fault = FaultTorn
		}
		// A chain that holds together was one when the data stack was copied, also where the innermost frame is
		// another afterwards: reading again would cost as much as the sample and prefer frames that last. A generator's
		// frame may be linked to a place where another frame is by now: such a chain is believed only where the data stack
		// was copied between two looks at the innermost frame, and nothing moved.
		loose := (out.Moved || t.late || !t.hasEnd) && t.loose && !r.l.Frame.Heap
		if out.Fault == FaultNone && !loose {
			break
		}
		if try == attempts {
			if loose {
				out.Fault = FaultTorn
			}
			break
		}
		if !r.again(t) {
			break
		}
	}
	r.finish(t, out, try == 1 && !r.rereading)
}

// rooted says whether a stack ends at the thread's outermost frame. That lies at the begin of the data stack, unless it
// is a generator's: then it is believed when a later snapshot ends there too. The link of a frame that is being left
// is cleared, and stays so for as long as the thread is kept off the processors just then.
func (r *Reader) rooted(t *threadState) bool {
	n := len(t.addrs)
	if n == 0 {
		return true
	}
	root := t.addrs[n-1]
	if root == t.root || t.atBase(root) {
		t.root, t.maybe = root, 0
		return true
	}
	if root != t.maybe {
		t.maybe, t.maybeAt = root, r.tick
	}
	if t.maybeAt == r.tick {
		return false
	}
	t.root, t.maybe = root, 0
	return true
}

// atBase says whether a frame is the first one of the oldest data-stack chunk, whose first word may be left out.
func (t *threadState) atBase(addr uint64) bool {
	if len(t.chunks) == 0 {
		return false
	}
	c := &t.chunks[len(t.chunks)-1]
	return word(c.buf, 0) == 0 && (addr == c.addr+chunkHeader || addr == c.addr+chunkHeader+8)
}

// again reads one thread once more.
func (r *Reader) again(t *threadState) bool {
	for {
		for i := range t.singles {
			t.singles[i].used = true
		}
		for i := range t.chunks {
			t.chunks[i].used = true
		}
		r.ranges = t.predict(r.l, r.ranges[:0])
		if n, err := r.readAll(r.ranges); err == nil && n == len(r.ranges) {
			t.near.scatter()
			return true
		}
		if t.near.apart {
			return r.readThread(t) == nil
		}
		t.near.apart = true
	}
}

// finish compares the stack with the last one and notes which code objects are to be compared, unless they were in the
// batch that the stack comes from.
func (r *Reader) finish(t *threadState, out *ThreadSample, batched bool) {
	if out.Fault != FaultNone {
		for i := range t.frames {
			r.suspect(t.frames[i].Code)
		}
		t.frames, t.addrs = t.frames[:0], t.addrs[:0]
	}
	n, p := len(t.frames), len(t.prev)
	same := 0 // outer frames that did not move
	for same < n && same < p && t.frames[n-1-same] == t.prev[p-1-same] && t.addrs[n-1-same] == t.prevA[p-1-same] {
		same++
	}
	out.Same = same == n && n == p && out.Fault == FaultNone
	t.moving = t.moving[:0]
	for i := range t.frames {
		c := t.frames[i].Code
		if i < n-same && len(t.moving) < maxEarly {
			t.moving = append(t.moving, c)
		}
		if (i < n-same || r.tick-max(c.checked, c.early) >= r.every) && !(batched && c.early == r.tick) {
			r.suspect(c)
		}
	}
	t.whole = out.Fault == FaultNone && !out.Moved
	out.Frames = t.frames
	t.frames, t.prev = t.prev, t.frames
	t.addrs, t.prevA = t.prevA, t.addrs
}

// suspect has a code object compared at the end of the snapshot. In a chain that does not hold together one of them may
// be what took the place of a freed one.
func (r *Reader) suspect(c *Code) {
	if c.checked != r.tick {
		c.checked = r.tick
		r.check = append(r.check, c)
	}
}

// currentFrame finds the innermost frame in the copies.
func (r *Reader) currentFrame(t *threadState) (uint64, bool) {
	p := word(t.head, r.l.Thread.Frame)
	if r.l.Thread.CFrame == none || p == 0 {
		return p, true
	}
	if p != t.cframe || !t.hasEnd {
		t.cframe, t.hasEnd = p, false
		if r.mem.Read(p+uint64(r.l.Thread.CFrame), t.current[:]) != nil {
			t.cframe = 0
			return 0, false
		}
	}
	return word(t.current[:], 0), true
}
