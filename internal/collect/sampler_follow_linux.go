package collect

import (
	"math"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"bottleneck/internal/proc"
)

// follower keeps the sampling thread on the processor of a thread that it samples, so that this one stands while its stack is read.
//
// From another processor two things would falsify samples. The reading takes a few microseconds, and a chain of frames that changes
// meanwhile is read again until it holds together, which prefers code that stands still: of a loop that spends six tenths of its time in
// small modules, four were seen there. And where all processors are busy, the sampler takes the place of one of the threads that compute
// an operator together, for which the sampled thread then waits: nine of ten samples lay in that operator, which takes a seventh.
type follower struct {
	at      int // the processor it is kept on, where it is
	held    bool
	pause   int         // wake-ups for which nobody is followed
	looked  int64       // when it last asked where a thread is
	allowed unix.CPUSet // where it may run
	known   bool        // allowed was read
}

const (
	forever   = math.MaxInt
	afterLate = 50 // wake-ups after one that came too late
	// askEvery is how often it asks where a thread is, at most, in ns: a file of the kernel's is read for it.
	askEvery = 4_000_000
)

// next goes to the processor of a thread, for the next wake-up.
func (f *follower) next(t *tree) {
	switch {
	case f.pause > 0:
		f.pause--
		return
	case !f.known:
		f.known = true
		if unix.SchedGetaffinity(0, &f.allowed) != nil || f.allowed.Count() < 2 {
			f.pause = forever
			return
		}
	}
	now := monotonic()
	if now-f.looked < askEvery {
		return
	}
	f.looked = now
	thread := f.choose(t)
	if thread == nil {
		return
	}
	at, ok := thread.Processor()
	if !ok || f.held && at == f.at {
		return
	}
	var set unix.CPUSet
	set.Set(at)
	if unix.SchedSetaffinity(0, &set) != nil {
		f.free(forever)
		return
	}
	f.at, f.held = at, true
}

// choose draws a thread of those that ran at their last sample, the processes' first threads before others; nil where none ran.
func (*follower) choose(t *tree) *proc.Thread {
	for _, first := range []bool{true, false} {
		var one *proc.Thread
		n := 0
		for _, p := range t.order {
			if p.python == nil {
				continue
			}
			for _, th := range p.python.threads {
				if th.os == nil || th.asleep || (th.os.TID == th.os.PID) != first {
					continue
				}
				if n++; rand.IntN(n) == 0 {
					one = th.os
				}
			}
		}
		if one != nil {
			return one
		}
	}
	return nil
}

// free lets the thread run anywhere for so many wake-ups.
func (f *follower) free(wakes int) {
	if f.held {
		_ = unix.SchedSetaffinity(0, &f.allowed)
		f.held = false
	}
	f.pause = max(f.pause, wakes)
}
