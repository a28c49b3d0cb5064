package collect

import (
	"errors"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/native"
	"bottleneck/internal/proc"
)

// NativeMode says whether and how native frames are read.
type NativeMode string

// Modes of native frames.
const (
	NativeOff   NativeMode = ""
	NativeWatch NativeMode = "watch" // without stopping anything
	NativeStop  NativeMode = "stop"  // stopping a thread that runs for as long as its registers and stack are copied
)

// nativeFor prepares the reading of native stacks; nil where none are asked for.
func (p *pythonProcess) nativeFor(mode NativeMode) (*nativeStacks, error) {
	if mode == NativeOff {
		return nil, nil
	}
	return newNativeStacks(p.p.PID, p.mem, p.interp, monotonic())
}

func pythonOnly(frames []cpython.RawFrame) []mixedFrame {
	out := make([]mixedFrame, len(frames))
	for i := range out {
		out[i].python = i
	}
	return out
}

// dumpWait is how long a dump waits for the kernel's record of a thread that runs, which may wait for a processor.
const dumpWait = int64(100 * time.Millisecond)

// askedThread is a thread that runs while it is dumped.
type askedThread struct {
	event *proc.StackEvent
	since int64
	err   error
}

// ask asks the kernel for the stacks of the threads that run, before their Python stacks are read.
func (n *nativeStacks) ask(threads []cpython.ThreadSample, mode NativeMode, p *pythonProcess) {
	if n == nil || mode != NativeWatch {
		return
	}
	if n.asked == nil {
		n.asked = map[int]*askedThread{}
	}
	for i := range threads {
		tid := p.ids.native(threads[i].ID, threads[i].Native)
		th, err := proc.OpenThread(p.p.PID, tid)
		if err != nil {
			continue
		}
		os, err := th.State()
		th.Close()
		a := n.asked[tid]
		if err != nil || a == nil && (!os.Running || len(n.asked) >= maxEvents) {
			continue
		}
		if a == nil {
			a = &askedThread{}
			a.event, a.err = proc.OpenStackEvent(tid)
			n.asked[tid] = a
		}
		if a.event != nil {
			a.event.Disarm()
			a.since = monotonic()
			a.err = a.event.Arm()
		}
	}
}

// close ends what was asked for.
func (n *nativeStacks) close() {
	for _, a := range n.asked {
		if a.event != nil {
			a.event.Close()
		}
	}
	n.asked = nil
}

// around puts native frames around a thread's Python frames. Where that cannot be, missing says why; ok is false where
// another try may succeed.
func (p *pythonProcess) around(n *nativeStacks, t *pythonThread, s *cpython.ThreadSample, plain []mixedFrame,
	mode NativeMode) (frames []mixedFrame, missing string, ok bool) {
	if t.os == nil || s.Fault != cpython.FaultNone {
		return plain, "the thread's own id is not known", true
	}
	places, end, ok := n.blocked(t.os, monotonic())
	if !ok {
		if places, end, missing = n.running(t.os, mode, func() bool { return p.reader.Within(s) }); missing != "" {
			return plain, missing, missing != movedOn
		}
	}
	merged, ok := n.merge(s.Frames, places, end)
	if !ok {
		return plain, movedOn, false
	}
	return append([]mixedFrame{}, merged...), end.String(), true
}

// running is the stack of a thread that runs: the kernel's record of it, or that of a stop, in which fits must hold.
func (n *nativeStacks) running(t *proc.Thread, mode NativeMode, fits func() bool) (places []native.Place, end native.End, missing string) {
	if mode == NativeStop {
		places, end, err := n.stopped(t.PID, t.TID, fits)
		for deadline := monotonic() + dumpWait; errors.Is(err, proc.ErrLateStop) && !proc.Release(t.PID, t.TID) && monotonic() < deadline; {
			sleepUntil(monotonic() + int64(time.Millisecond))
		}
		switch {
		case errors.Is(err, errMovedOn):
			return nil, 0, movedOn
		case err != nil:
			return nil, 0, err.Error()
		}
		return places, end, ""
	}
	a := n.asked[t.TID]
	if a == nil {
		return nil, 0, movedOn
	}
	if a.err != nil {
		return nil, 0, a.err.Error()
	}
	for {
		if u, ok := a.event.Take(a.since); ok {
			places, end = n.recorded(u, monotonic())
			return places, end, ""
		}
		if now := monotonic(); now-a.since > dumpWait {
			return nil, 0, noRecord
		}
		sleepUntil(monotonic() + int64(time.Millisecond))
	}
}

// errMovedOn says that a thread was not in its Python stack any more when it stopped.
var errMovedOn = errors.New(movedOn)

// stopped stops a thread for as long as its registers and its stack are copied. Its Python stack was read while it ran: it belongs to
// what is copied only where fits holds then.
func (n *nativeStacks) stopped(pid, tid int, fits func() bool) (places []native.Place, end native.End, err error) {
	var r proc.UserRegisters
	var c native.StackCopy
	same := false
	err = proc.StopThread(pid, tid, func(u proc.UserRegisters) {
		if same = fits(); !same {
			return
		}
		r, c = u, native.CopyStack(n.mem, u.SP, stackBytes, n.buf)
	})
	if err == nil && !same {
		err = errMovedOn
	}
	if err != nil {
		return nil, 0, err
	}
	places, end = n.u.Stack(native.From(r), c)
	return places, end, nil
}

func dumpedNative(f native.Frame) DumpedFrame {
	return DumpedFrame{Function: f.Name(), File: f.Library, Native: true}
}

// maxNativeThreads bounds the threads without Python that are dumped of a process.
const maxNativeThreads = 1024

// dumpNativeThreads dumps the threads that are not among those of Python.
func (p *pythonProcess) dumpNativeThreads(n *nativeStacks, python []DumpedThread) []DumpedThread {
	known := map[int]bool{}
	for _, t := range python {
		known[t.TID] = true
	}
	tids, _ := proc.Threads(p.p.PID) // a process that ended has none
	var out []DumpedThread
	for _, tid := range tids {
		if known[tid] || len(out) == maxNativeThreads {
			continue
		}
		th, err := proc.OpenThread(p.p.PID, tid)
		if err != nil {
			continue
		}
		out = append(out, n.dumpNativeThread(th))
		th.Close()
	}
	return out
}

func (n *nativeStacks) dumpNativeThread(th *proc.Thread) DumpedThread {
	d := DumpedThread{TID: th.TID, Name: proc.ThreadName(th.PID, th.TID), State: "blocked", Frames: []DumpedFrame{}}
	for range dumpAttempts {
		places, end, ok := n.blocked(th, monotonic())
		if !ok {
			continue // a thread without Python that runs is not asked: its stack is none of Python's
		}
		frames := make([]mixedFrame, 0, len(places))
		for _, p := range places {
			frames = append(frames, mixedFrame{-1, n.u.Frame(p)})
		}
		if frames = withoutParts(frames); end == native.EndStart {
			frames = withoutStart(frames)
		}
		for _, f := range frames {
			d.Frames = append(d.Frames, dumpedNative(f.native))
		}
		d.Native = end.String()
		return d
	}
	d.State, d.Native = "cpu", "it runs no Python, and runs"
	return d
}
