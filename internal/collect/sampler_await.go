package collect

import (
	"slices"
	"strings"

	"bottleneck/internal/cpython"
)

// Limits of looking at what an event loop waits for.
const (
	mostAwaiting = 16 // tasks; a server with more is not waiting for one place
	awaitShare   = 50 // of the time since the last look a fiftieth may go into the next one
)

// eventLoop is how many frames, innermost first, are those of an event loop of asyncio that waits: its selector, and its turn. 0 elsewhere.
func eventLoop(frames []cpython.RawFrame) int {
	i := slices.IndexFunc(frames, func(f cpython.RawFrame) bool { return !strings.HasSuffix(f.Code.File, "/selectors.py") })
	if i > 0 && strings.HasSuffix(frames[i].Code.File, "/asyncio/base_events.py") && strings.HasSuffix(frames[i].Code.Function, "_run_once") {
		return i + 1
	}
	return 0
}

// await puts what the main task waits for around the turn of a sleeping event loop, as if the coroutine had called it: the loop's own stack
// names the line of asyncio.run, whatever is awaited.
func (p *pythonProcess) await(t *pythonThread, s *cpython.ThreadSample) {
	if s.Still && t.awaits != noStack {
		return // it has not run since
	}
	t.awaits = noStack
	began := monotonic()
	if began < p.nextAwait || p.loops() > 1 {
		return
	}
	frames, ok := p.reader.Awaited(mostAwaiting)
	p.nextAwait = began + awaitShare*(monotonic()-began)
	if ok {
		t.awaits = p.stackOf(slices.Concat(s.Frames[:t.loop], frames, s.Frames[t.loop:]))
	}
}

// loops is how many threads of the snapshot wait in an event loop: tasks do not say whose they are.
func (p *pythonProcess) loops() (n int) {
	for _, t := range p.threads {
		if t.seen == p.tick && t.loop > 0 {
			n++
		}
	}
	return n
}
