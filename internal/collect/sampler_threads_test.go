package collect

import (
	"os"
	"testing"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
	"bottleneck/internal/proc"
)

// A child that has just been forked is seen with its parent's thread id, then with its own: the thread is followed by that.
func TestAForkedThreadIsNumberedAnew(t *testing.T) {
	self := os.Getpid()
	if _, err := proc.OpenThread(self, self); err != nil {
		t.Skip("threads of this system are not seen")
	}
	p := &pythonProcess{s: &Sampler{}, p: &treeProcess{}, ids: &threadIDs{pid: self}}
	p.p.PID = self
	th := &pythonThread{stack: 7, state: model.StateCPU, c: nativeThread{stack: noStack}}
	p.number(th, &cpython.ThreadSample{Native: 1 << 30})
	if th.os != nil || th.tid != 1<<30 {
		t.Fatalf("a thread that is not there: %+v", th)
	}
	p.threads = map[uint64]*pythonThread{16: th}
	p.thread(0, &cpython.ThreadSample{Addr: 16, Native: self})
	if th.os == nil || th.tid != self || th.noted != self || th.stack != noStack {
		t.Errorf("%+v, want thread %d", th, self)
	}
	th.os.Close()
}
