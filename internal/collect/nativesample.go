package collect

import (
	"errors"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
	"bottleneck/internal/native"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// Bounds of reading the stacks of running threads.
const (
	// recordApart is how far the reading of the Python stack may lie behind the request for the kernel's record: that
	// comes after some 10 µs of the thread's own time, so that a thread which waits for a processor is no matter.
	recordApart = int64(300 * time.Microsecond)
	// maxWaiting bounds the samples of one thread that wait for one record.
	maxWaiting = 1 << 12
	// maxEvents bounds the threads of a process that the kernel is asked about: each has a ring of its own.
	maxEvents = 128
)

// NativeCounts says how often the native frames of a sample could be read.
type NativeCounts struct {
	Whole   int64 `json:"whole"`   // down to where the thread began
	Partial int64 `json:"partial"` // the innermost ones, up to a place that cannot be unwound
	Missing int64 `json:"missing"` // none
	// Reasons count why samples have none or only some, by text.
	Reasons map[string]int64 `json:"reasons,omitempty"`
}

func (c *NativeCounts) total() int64 { return c.Whole + c.Partial + c.Missing }

// got counts a sample with native frames.
func (c *NativeCounts) got(end native.End) {
	if end == native.EndStart {
		c.Whole++
		return
	}
	c.Partial++
	c.because(end.String())
}

func (c *NativeCounts) miss(reason string) {
	c.Missing++
	c.because(reason)
}

func (c *NativeCounts) because(reason string) {
	if c.Reasons == nil {
		c.Reasons = map[string]int64{}
	}
	if _, known := c.Reasons[reason]; known || len(c.Reasons) < 64 {
		c.Reasons[reason]++
	}
}

// NativeOf sums the native frames of all processes, and gives the first reason for which there are none.
func (st *SamplerStats) NativeOf() (sum NativeCounts, reason string) {
	for _, p := range st.Processes {
		sum.Whole += p.Native.Whole
		sum.Partial += p.Native.Partial
		sum.Missing += p.Native.Missing
		for text, n := range p.Native.Reasons {
			if sum.Reasons == nil {
				sum.Reasons = map[string]int64{}
			}
			sum.Reasons[text] += n
		}
		if reason == "" {
			reason = p.NativeReason
		}
	}
	return sum, reason
}

// Reasons for which a sample of a running thread has no native frames.
const (
	movedOn  = "the thread moved on while it was read"
	noRecord = "the thread slept or ended before the kernel took its registers"
	noEvents = "perf events are not to be had"
)

// nativeThread is what is kept of a thread's native stack.
type nativeThread struct {
	event  *proc.StackEvent
	closed bool  // the event cannot be had
	armed  int64 // when it was asked; 0: it is not
	stack  int32 // the last stack with native frames, of a thread that sleeps
	epoch  int   // of the stack table
	// Samples that wait for the record, all in the same place.
	waiting []waitingSample
	frames  []cpython.RawFrame
	late    bool // their Python stack was read too long after the record was asked for
}

type waitingSample struct {
	mono  int64
	flags uint8
}

// startNative prepares the native stacks of a process that is sampled.
func (p *pythonProcess) startNative() {
	n, err := p.nativeFor(p.s.opts.Native)
	if err != nil {
		p.count.NativeReason = err.Error()
		return
	}
	p.native = n
}

// beginNative stores the samples whose records have come, and asks the kernel for the stacks of the threads that ran
// when they were sampled last.
func (p *pythonProcess) beginNative() {
	p.release()
	for _, t := range p.threads {
		p.settle(t, false)
		if t.c.armed == 0 && !t.asleep && t.os != nil && p.s.opts.Native == NativeWatch {
			p.arm(t)
		}
	}
}

// arm asks for a record of one thread.
func (p *pythonProcess) arm(t *pythonThread) {
	if t.c.event == nil && !t.c.closed {
		p.openEvent(t)
	}
	if t.c.event == nil {
		return
	}
	at := monotonic()
	if t.c.event.Arm() == nil {
		t.c.armed = at
	}
}

// disarm takes the request back.
func (t *pythonThread) disarm() {
	if t.c.armed != 0 {
		t.c.event.Disarm()
		t.c.armed = 0
	}
}

// settle stores the samples that wait for a record: with it, or, where they are not to wait any longer, without.
func (p *pythonProcess) settle(t *pythonThread, now bool) {
	if t.c.armed == 0 {
		return
	}
	u, ok := t.c.event.Take(t.c.armed)
	if ok {
		t.c.armed = 0 // an event that happened has disarmed itself
	}
	if len(t.c.waiting) == 0 || !ok && !now {
		return
	}
	reason := noRecord
	switch {
	case ok && t.c.late:
		reason = movedOn
	case ok && u.SP == 0:
		reason = "the kernel gave no registers"
	case ok:
		reason = ""
	}
	var merged []mixedFrame
	var end native.End
	if reason == "" {
		var places []native.Place
		places, end = p.native.recorded(u, monotonic())
		if merged, ok = p.native.merge(t.c.frames, places, end); !ok {
			reason = movedOn
		}
	}
	stack := int32(noStack)
	for _, w := range t.c.waiting {
		if reason != "" {
			p.count.Native.miss(reason)
		} else {
			p.count.Native.got(end)
		}
		if stack == noStack {
			if stack = p.stackOf(t.c.frames); reason == "" {
				stack = p.stackOfMixed(t.c.frames, merged)
			}
		}
		p.store(w.mono, t, stack, model.StateCPU, w.flags)
	}
	t.c.waiting = t.c.waiting[:0]
}

// wait keeps the sample of a running thread until the kernel's record of it comes; false where none can.
func (p *pythonProcess) wait(now int64, t *pythonThread, s *cpython.ThreadSample, flags uint8) bool {
	if len(t.c.waiting) > 0 && (!s.Same || len(t.c.waiting) == maxWaiting) {
		p.settle(t, true)
	}
	fresh := t.c.armed == 0
	if fresh {
		p.arm(t)
	}
	if t.c.armed == 0 {
		return false
	}
	if len(t.c.waiting) == 0 {
		t.c.frames = append(t.c.frames[:0], s.Frames...)
		t.c.late = !fresh && monotonic()-t.c.armed > recordApart
	}
	t.c.waiting = append(t.c.waiting, waitingSample{now, flags})
	return true
}

func (p *pythonProcess) openEvent(t *pythonThread) {
	t.c.closed = true
	if p.events >= maxEvents {
		return
	}
	e, err := proc.OpenStackEvent(t.tid)
	if err != nil {
		if !errors.Is(err, proc.ErrGone) {
			p.count.NativeReason = err.Error()
		}
		return
	}
	p.events++
	t.c.event, t.c.closed = e, false
}

// closeNative ends what is open of a thread.
func (p *pythonProcess) closeNative(t *pythonThread) {
	p.settle(t, true)
	if t.c.event != nil {
		t.c.event.Close()
		t.c.event, t.c.closed, t.c.armed = nil, true, 0
		p.events--
	}
}

// storeNative stores a sample with native frames, at once or when they are known.
func (p *pythonProcess) storeNative(now int64, t *pythonThread, s *cpython.ThreadSample, state model.ThreadState, flags uint8) {
	if state == model.StateCPU && p.s.opts.Native == NativeWatch && t.os != nil {
		t.c.stack = noStack
		if !p.wait(now, t, s, flags) {
			p.count.Native.miss(noEvents)
			p.store(now, t, t.stack, state, flags)
		}
		return
	}
	p.settle(t, true)
	t.disarm()
	p.store(now, t, p.withNative(t, s, state, now), state, flags)
}

// withNative is the stack, with native frames, of a thread that is blocked, or that may be stopped.
func (p *pythonProcess) withNative(t *pythonThread, s *cpython.ThreadSample, state model.ThreadState, now int64) int32 {
	if s.Still && t.c.stack != noStack && t.c.epoch == p.epoch {
		p.count.Native.Whole++
		return t.c.stack
	}
	t.c.stack = noStack
	var places []native.Place
	var end native.End
	reason := ""
	switch {
	case t.os == nil:
		reason = "the thread's own id is not known"
	case state == model.StateCPU:
		places, end, reason = p.stoppedStack(t, s)
	default:
		var ok bool
		if places, end, ok = p.native.blocked(t.os, now); !ok {
			reason = movedOn
		}
	}
	if reason == "" {
		if merged, ok := p.native.merge(s.Frames, places, end); ok {
			stack := p.stackOfMixed(s.Frames, merged)
			if p.count.Native.got(end); t.asleep && end == native.EndStart {
				t.c.stack, t.c.epoch = stack, p.epoch
			}
			return stack
		}
		reason = movedOn
	}
	p.count.Native.miss(reason)
	return t.stack
}

// recorded follows a stack that the kernel has recorded; what lies below its copy is read from the process.
func (n *nativeStacks) recorded(u proc.UserStack, now int64) ([]native.Place, native.End) {
	n.refresh(now)
	return n.u.Stack(native.From(u.UserRegisters), native.StackCopy{Addr: u.SP, Data: u.Stack, Rest: n.mem})
}

// stoppedStack stops the thread for as long as its registers and its stack are copied.
func (p *pythonProcess) stoppedStack(t *pythonThread, s *cpython.ThreadSample) (places []native.Place, end native.End, reason string) {
	if !p.release() {
		return nil, 0, proc.ErrLateStop.Error()
	}
	places, end, err := p.native.stopped(p.p.PID, t.tid, func() bool { return p.reader.Within(s) })
	switch {
	case errors.Is(err, proc.ErrLateStop):
		p.pending = t.tid
		return nil, 0, proc.ErrLateStop.Error()
	case errors.Is(err, proc.ErrGone), errors.Is(err, errMovedOn):
		return nil, 0, movedOn
	case err != nil:
		p.count.NativeReason = err.Error()
		return nil, 0, "the thread could not be stopped"
	}
	return places, end, ""
}

// release lets a thread go on that stopped too late; false while it has not stopped.
func (p *pythonProcess) release() bool {
	if p.pending != 0 && proc.Release(p.p.PID, p.pending) {
		p.pending = 0
	}
	return p.pending == 0
}

// stackOfMixed interns a stack with native frames, outermost frame first.
func (p *pythonProcess) stackOfMixed(frames []cpython.RawFrame, mixed []mixedFrame) int32 {
	table := p.s.writer.Stacks
	at := int32(-1)
	for i := len(mixed) - 1; i >= 0; i-- {
		m := &mixed[i]
		if m.python >= 0 {
			at = table.Push(at, p.frameID(&frames[m.python]))
			continue
		}
		at = table.Push(at, table.Frame(nativeFrame(m.native)))
	}
	return at
}

func nativeFrame(f native.Frame) record.SampleFrame {
	return record.SampleFrame{Function: f.Name(), File: f.Library, Native: true}
}
