package collect

import (
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

// around puts native frames around a thread's Python frames. Where that cannot be, missing says why; ok is false where
// another try may succeed.
func (n *nativeStacks) around(t *pythonThread, s *cpython.ThreadSample, plain []mixedFrame) (frames []mixedFrame, missing string, ok bool) {
	if t.os == nil || s.Fault != cpython.FaultNone {
		return plain, "the thread's own id is not known", true
	}
	places, end, ok := n.blocked(t.os, monotonic())
	if !ok {
		return plain, runsNow, true
	}
	merged, ok := n.merge(s.Frames, places, end)
	if !ok {
		return plain, "the thread moved on while it was read", false
	}
	return append([]mixedFrame{}, merged...), end.String(), true
}

// runsNow is why a running thread has no native frames.
const runsNow = "it runs, and the registers of a running thread cannot be read from outside"

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
			continue
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
	d.State, d.Native = "cpu", runsNow
	return d
}
