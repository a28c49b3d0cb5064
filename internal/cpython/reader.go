package cpython

import (
	"errors"
	"fmt"

	"bottleneck/internal/proc"
)

// Limits of what is followed in a target.
const (
	maxInterps  = 64
	maxThreads  = 4096
	maxFrames   = 4096     // deeper stacks are cut at the outer end and marked
	maxChunk    = 1 << 20  // bytes of one data-stack chunk
	maxChunks   = 256      // of a thread
	maxStackMem = 16 << 20 // bytes of all chunks of a thread
)

// RawFrame is one frame: a code object and the instruction it is at, in bytes from the start of the bytecode.
type RawFrame struct {
	Code   *Code
	Offset int32
	Entry  bool // called from C: a native frame lies between it and its caller
}

// Line is the frame's running line.
func (f RawFrame) Line() int32 { return f.Code.Line(f.Offset) }

// Fault says why a thread's stack could not be read.
type Fault uint8

// Faults of a stack. A leaf that moved on while it was read is none.
const (
	FaultNone   Fault = iota
	FaultTorn         // the chain does not hold together
	FaultMemory       // memory could not be read
)

// ThreadSample is the state of one Python thread at one moment. Frames are innermost first and are valid until the
// next snapshot.
type ThreadSample struct {
	Addr     uint64 // of its PyThreadState
	Interp   int    // index of its interpreter
	ID       uint64 // pthread ident, as threading.get_ident gives it
	Native   int    // native thread id in the target's PID namespace; 0 unknown
	Frames   []RawFrame
	Same     bool // frames equal those of the previous snapshot
	Still    bool // the thread has not run since then
	Cut      bool // outer frames are missing because of the depth limit
	HoldsGIL bool
	GIL      uint64 // address of the lock that it needs
	Switches uint64 // how often the lock went from one thread to another; 0 where nobody holds it
	GC       bool   // its interpreter collects garbage, and it holds the GIL, or does not sleep where there is none
	Fault    Fault
	Moved    bool // the innermost frame changed while the stack was read
	Attached Attachment
}

// Attachment says whether a thread of a free-threaded build may touch Python's objects: what holding the GIL says elsewhere.
type Attachment uint8

// Attachments, by the words of a thread's state in CPython's Include/internal/pycore_pystate.h.
const (
	AttachUnknown Attachment = iota // the build has a GIL, which tells
	Detached                        // it has let go of the interpreter: it computes in C, or sleeps
	Attached                        // it runs Python, or C code that has not let go
	Suspended                       // it has to wait, such as for a collection of garbage
)

// Snapshot is what one reading found.
type Snapshot struct {
	Threads []ThreadSample
}

// Reader takes snapshots of one interpreter. It is used by one goroutine.
type Reader struct {
	in        *Interpreter
	l         *Layout
	mem       proc.Memory
	codes     *codes
	interp    []*interpState
	byAddr    map[uint64]*threadState
	order     []*threadState // as they are read in a batch
	ranges    []proc.Range
	check     []*Code // code objects to be compared in this snapshot
	keys      []byte
	tick      int64
	changed   []int             // threads of the snapshot with a code object that is another now
	rereading bool              // their stacks are walked again
	read      int64             // tick of the last batch
	every     int64             // ticks between comparisons of code objects that did not move
	active    map[uint64]uint64 // threading._active by interpreter
	early     []*Code           // code objects that are compared within the batch
	taskSets  map[uint64]uint64 // where asyncio keeps its tasks, by interpreter
	taskTypes map[uint64]string // of objects that tasks refer to
	mainTask  uint64            // the task that Awaited follows; 0 before it is known

	notWaiters [len(glibcCondWaiters)]bool // places that do not count a lock's waiters
	noWaiters  bool                        // none does
	// Asleep, where set, says that a thread, by its address, has not run since it was last asked: nothing of it can
	// have changed then, and next to nothing of it is read. It is asked at most once per snapshot, before anything of
	// that is read.
	Asleep func(addr uint64) bool
}

// interpState is one (sub)interpreter.
type interpState struct {
	addr     uint64
	lo       uint64 // of the region that holds all that is read of it
	region   []byte
	lock     uint64 // address of its lock
	gil      uint64 // the same; 0 while it is not in use
	gilBuf   []byte
	gilIn    bool   // the lock lies within the region
	holder   uint64 // thread that holds the lock; 0 none
	switches uint64
	gc       bool
	gcBuf    [4]byte // 3.8: in the runtime
	threads  uint64  // head of the list
}

// NewReader prepares to read an interpreter. rate is the number of snapshots per second that will be taken; it decides
// how often unmoved code objects are compared (about every 100 ms: a frame that does not move keeps its code alive).
func NewReader(in *Interpreter, mem proc.Memory, rate float64) *Reader {
	r := &Reader{in: in, l: in.Layout, mem: mem, codes: newCodes(mem, in.Layout), byAddr: map[uint64]*threadState{}}
	r.every = max(1, int64(rate/10))
	return r
}

// Refresh looks for new and ended subinterpreters; it is called about once a second.
func (r *Reader) Refresh() error {
	addr, err := proc.U64(r.mem, r.in.Runtime+uint64(r.l.Runtime.InterpHead))
	if err != nil {
		return fmt.Errorf("list interpreters: %w", err)
	}
	old := r.interp
	r.interp = nil
	for addr != 0 && len(r.interp) < maxInterps {
		for _, in := range r.interp {
			if in.addr == addr {
				return fmt.Errorf("list of interpreters has a loop: %w", errGarbage)
			}
		}
		in, err := r.openInterp(addr, old)
		if err != nil {
			return err
		}
		r.interp = append(r.interp, in)
		if addr, err = proc.U64(r.mem, addr+uint64(r.l.Interp.Next)); err != nil {
			return fmt.Errorf("list interpreters: %w", err)
		}
	}
	if len(r.interp) == 0 {
		return fmt.Errorf("process %d: %w", r.in.PID, ErrNotReady)
	}
	return nil
}

func (r *Reader) openInterp(addr uint64, old []*interpState) (*interpState, error) {
	for _, in := range old {
		if in.addr == addr {
			return in, nil
		}
	}
	l := r.l
	lo, hi := l.Interp.ThreadsHead, l.Interp.ThreadsHead+8
	if gc := l.Interp.GCCollecting; gc != none && max(hi, gc+4)-min(lo, gc) <= 4096 {
		lo, hi = min(lo, gc), max(hi, gc+4)
	}
	gil := r.in.Runtime + uint64(max(l.Runtime.GIL, 0))
	if l.Interp.GIL != none {
		var err error
		if gil, err = proc.U64(r.mem, addr+uint64(l.Interp.GIL)); err != nil {
			return nil, fmt.Errorf("interpreter at %#x: %w", addr, err)
		}
	}
	in := &interpState{addr: addr, lock: gil}
	// A lock of the interpreter's own lies in its structure: one piece less to be read.
	if at := gil - addr; gil > addr && at < maxStructLen && int(at)+l.GIL.Size-lo <= 4096 && hi-int(at) <= 4096 {
		lo, hi, in.gilIn = min(lo, int(at)), max(hi, int(at)+l.GIL.Size), true
	}
	in.lo, in.region = uint64(lo), make([]byte, hi-lo)
	if in.gilIn {
		in.gilBuf = in.region[int(gil-addr)-lo:]
	} else {
		in.gilBuf = make([]byte, l.GIL.Size)
	}
	return in, nil
}

// Take reads all threads. It fails only where the process cannot be read any more; faults of single threads are in
// their samples.
func (r *Reader) Take(s *Snapshot) error {
	s.Threads = s.Threads[:0]
	r.tick++
	if len(r.interp) == 0 || r.tick%4096 == 0 {
		if err := r.Refresh(); err != nil {
			return err
		}
	}
	if err := r.batch(); err != nil {
		return err
	}
	for i := range r.interp {
		if err := r.walkThreads(i, s); err != nil {
			return err
		}
	}
	r.compareCodes(s)
	r.forget(s)
	return nil
}

// batch reads everything at the places where it was in the previous snapshot, in one system call where possible.
func (r *Reader) batch() error {
	r.markAsleep()
	if r.allStill() {
		return nil
	}
	r.ranges, r.read = r.ranges[:0], r.tick
	for _, in := range r.interp {
		r.ranges = append(r.ranges, proc.Range{Addr: in.addr + in.lo, Buf: in.region})
		if in.lock != 0 && !in.gilIn {
			r.ranges = append(r.ranges, proc.Range{Addr: in.lock, Buf: in.gilBuf})
		}
		if at := r.l.Runtime.GCCollecting; at != none {
			r.ranges = append(r.ranges, proc.Range{Addr: r.in.Runtime + uint64(at), Buf: in.gcBuf[:]})
		}
	}
	fixed := len(r.ranges)
	for _, t := range r.order {
		t.fresh = false
		t.begin = len(r.ranges)
		if t.still {
			r.ranges = t.predictStill(r.l, r.ranges)
		} else {
			r.ranges = t.predict(r.l, r.ranges)
		}
	}
	threads := len(r.ranges)
	r.predictCodes()
	n, err := r.readAll(r.ranges)
	if err != nil {
		return err
	}
	if n < fixed {
		return fmt.Errorf("interpreter of process %d: %w", r.in.PID, proc.ErrUnreadable)
	}
	for i, t := range r.order {
		end := threads
		if i+1 < len(r.order) {
			end = r.order[i+1].begin
		}
		if t.fresh = end <= n; t.fresh && !t.still {
			t.near.scatter()
		}
	}
	r.compareEarly(n - threads)
	for _, in := range r.interp {
		r.decodeInterp(in)
	}
	return nil
}

// readAll reads ranges, going on behind the kernel's limit of pieces per call; it stops at the first unreadable one.
func (r *Reader) readAll(ranges []proc.Range) (int, error) {
	const most = 1024
	done := 0
	for done < len(ranges) {
		part := ranges[done:min(done+most, len(ranges))]
		n, err := r.mem.ReadMany(part)
		done += n
		if err != nil || n < len(part) {
			return done, err
		}
	}
	return done, nil
}

func (r *Reader) decodeInterp(in *interpState) {
	l := r.l
	in.threads = word(in.region, l.Interp.ThreadsHead-int(in.lo))
	in.gc = false
	if at := l.Interp.GCCollecting; at != none && at-int(in.lo)+4 <= len(in.region) && at >= int(in.lo) {
		in.gc = word32(in.region, at-int(in.lo)) != 0
	} else if l.Runtime.GCCollecting != none {
		in.gc = word32(in.gcBuf[:], 0) != 0
	}
	in.gil, in.holder, in.switches = in.lock, 0, 0
	if at := l.GIL.Enabled; at != none && word32(in.gilBuf, at) == 0 {
		in.gil = 0
	}
	if in.gil != 0 && int32(word32(in.gilBuf, l.GIL.Locked)) > 0 {
		in.holder = word(in.gilBuf, l.GIL.Holder)
		in.switches = word(in.gilBuf, l.GIL.Switches)
	}
}

// walkThreads follows the list of an interpreter's threads. New ones are put at its head, so the walk meets them.
func (r *Reader) walkThreads(i int, s *Snapshot) error {
	in := r.interp[i]
	addr := in.threads
	for n := 0; addr != 0 && n < maxThreads; n++ {
		t := r.byAddr[addr]
		if t == nil {
			t = newThreadState(addr, r.l)
			r.byAddr[addr] = t
			r.order = append(r.order, t)
		}
		if t.seen == r.tick {
			break // a loop, or a list that changed under the walk
		}
		if !t.fresh {
			t.still = false
			if err := r.readThread(t); err != nil {
				if errors.Is(err, proc.ErrGone) {
					return err
				}
				break // the thread ended and the list with it; the next snapshot sees the rest
			}
		}
		if word(t.head, r.l.Thread.Interp) != in.addr {
			t.fresh = false
			break
		}
		t.seen = r.tick
		s.Threads = append(s.Threads, ThreadSample{Addr: addr, Interp: i, ID: word(t.head, r.l.Thread.ID),
			HoldsGIL: in.holder == addr, GIL: in.gil, Switches: in.switches,
			GC: in.gc && in.holder == addr, Attached: r.attachment(t)})
		out := &s.Threads[len(s.Threads)-1]
		// While garbage is collected an attached thread does that, or waits for the end of it; one that sleeps in C is detached.
		out.GC = out.GC || in.gc && out.Attached > Detached
		if r.l.Thread.Native != none {
			out.Native = int(int64(word(t.head, r.l.Thread.Native)))
		}
		if t.still {
			out.Frames, out.Same, out.Still = t.prev, true, true
			addr = t.nextOf(r.l)
			continue
		}
		r.stack(t, out)
		addr = word(t.head, r.l.Thread.Next)
	}
	return nil
}

// attachment reads a thread's state in a free-threaded build.
func (r *Reader) attachment(t *threadState) Attachment {
	if r.l.Thread.State == none {
		return AttachUnknown
	}
	switch word32(t.head, r.l.Thread.State) {
	case 0:
		return Detached
	case 1:
		return Attached
	}
	return Suspended
}

// forget drops threads that are not in the lists any more.
func (r *Reader) forget(s *Snapshot) {
	if len(r.order) == len(s.Threads) {
		return
	}
	kept := r.order[:0]
	for _, t := range r.order {
		if t.seen == r.tick {
			kept = append(kept, t)
			continue
		}
		delete(r.byAddr, t.addr)
	}
	r.order = kept
}

func word32(b []byte, at int) uint32 {
	return uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24
}
