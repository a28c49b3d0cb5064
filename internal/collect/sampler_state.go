package collect

import (
	"path"
	"strings"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
)

// state decides what a thread did at a sample. One whose innermost frame changed while it was read runs for certain;
// else the kernel is asked.
func (p *pythonProcess) state(t *pythonThread, s *cpython.ThreadSample) (model.ThreadState, uint8) {
	var flags uint8
	if s.HoldsGIL {
		flags |= model.SampleHoldsGIL
	}
	if s.GIL == 0 && (s.Attached == cpython.Attached || s.Attached != cpython.AttachUnknown && s.Moved) {
		flags |= model.SampleAttached
	}
	if s.GC {
		flags |= model.SampleGC
	}
	if s.Moved {
		t.asleep = false
		return model.StateCPU, flags
	}
	if t.os == nil {
		if s.HoldsGIL && !s.Same {
			return model.StateCPU, flags
		}
		return model.StateUnknown, flags
	}
	if s.Still {
		return t.state, flags | t.flags
	}
	os, err := t.os.State()
	t.asleep = false
	switch {
	case err != nil:
		return model.StateUnknown, flags
	case os.Running && t.waitsGIL && !s.HoldsGIL && s.Switches != 0 && s.Switches == t.switches:
		// It woke up only to look at the lock, which has not changed hands since it was seen waiting.
		return model.StateGILWait, flags
	case os.Running:
		t.waitsGIL = false
		if !s.HoldsGIL && s.GIL != 0 || s.GIL == 0 && s.Attached == cpython.Detached {
			flags |= model.SampleInNative // it released the lock, or has asked for it: settleAwake tells
		}
		return model.StateCPU, flags
	case os.Syscall == sysFutex && p.reader.WaitsForGIL(s.GIL, os.Args[0]):
		t.waitsGIL, t.switches, t.counted = true, s.Switches, p.reader.CountsAsWaiter(s.GIL, os.Args[0])
		t.asleep, t.state, t.flags = true, model.StateGILWait, 0
		return model.StateGILWait, flags
	}
	t.waitsGIL = false
	flags |= model.SampleInNative
	if os.Disk || fileCall(os.Syscall) && t.os.Disk() {
		flags |= model.SampleDiskWait
	}
	waits := waitedFor(os.Syscall, os.Args)
	flags |= waits
	state := model.StateBlocked
	if t.waits {
		state = model.StateIdle
	}
	t.asleep, t.state, t.flags = flags&model.SampleDiskWait == 0, state, model.SampleInNative|waits
	return state, flags
}

// awakeThread is a thread that the kernel calls running and that does not hold the lock that it needs.
type awakeThread struct {
	t     *pythonThread
	s     *cpython.ThreadSample
	flags uint8
}

// settleAwake decides what threads do that run, or could, without the lock: native code, or they were woken in their wait for
// it and stand in the kernel's queue, as they do for long where cores are few. The lock counts who waits for it; those that
// were seen asleep in that wait are the first of them. Of several threads, where only some can be waiting, those that stand
// where they stood before are taken first. Threads whose frames are not
// known may wait too.
func (p *pythonProcess) settleAwake(now int64) {
	for pass := range 2 {
		for i := range p.awake {
			a := &p.awake[i]
			if a.t == nil || a.s.Same != (pass == 0) {
				continue
			}
			state, flags := model.StateCPU, a.flags
			if n, ok := p.gilWaiters(a.s.GIL); ok && n-p.unknown > p.sleep[a.s.GIL] {
				p.sleep[a.s.GIL]++
				state, flags = model.StateGILWait, flags&^model.SampleInNative
			}
			p.keep(now, a.t, a.s, state, flags)
			a.t = nil
		}
	}
	p.awake = p.awake[:0]
}

// gilWaiters asks the lock who waits for it; one thread alone waits for nobody.
func (p *pythonProcess) gilWaiters(gil uint64) (int, bool) {
	if len(p.shot.Threads) < 2 {
		return 0, false
	}
	return p.reader.GILWaiters(gil)
}

// stillAsleep says that a thread has not been on a processor since it was seen asleep. The account that tells is read
// before the stack: had the thread run between the two, the next look would say so.
func (p *pythonProcess) stillAsleep(addr uint64) bool {
	t := p.threads[addr]
	return t != nil && t.asleep && t.os != nil && !t.os.Ran()
}

// waitModules are the standard library's files in which a thread waits for something that others do.
var waitModules = map[string]bool{"threading.py": true, "queue.py": true, "selectors.py": true, "connection.py": true,
	"queues.py": true, "synchronize.py": true, "popen_fork.py": true}

// workLoops are functions that wait for work when they wait.
var workLoops = map[string]bool{
	"_worker_loop": true, "_worker": true, "do_one_step": true, "_pin_memory_loop": true, "_run_once": true,
	"serve_forever": true, "worker": true, "_feed": true, "_handle_workers": true, "_handle_tasks": true,
	"_handle_results": true, "_read_thread": true, "run_forever": true, "_monitor": true,
}

// waitsForWork says whether a stack is one that waits for work, should its thread sleep: the first frame outside of the
// waiting modules is a known loop, or there is none but the thread's own start. The main thread waits for others too,
// but that is time of the program: only a known loop makes it idle.
func waitsForWork(frames []cpython.RawFrame, main bool) bool {
	inWait := false
	for i := range frames {
		c := frames[i].Code
		if waitModules[path.Base(c.File)] || i == 0 && c.Function == "socket.accept" || i == 0 && c.Function == "accept" {
			inWait = true
			continue
		}
		name := c.Function[strings.LastIndexByte(c.Function, '.')+1:]
		if workLoops[name] && (inWait || strings.HasPrefix(path.Base(c.File), "base_events") || name == "_worker") {
			return true
		}
		return inWait && !main
	}
	return inWait && !main
}

func sinceStart(now, start int64) time.Duration { return time.Duration(max(now-start, 1)) }
