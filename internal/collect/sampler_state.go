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
			flags |= model.SampleInNative // it released the lock, or is about to ask for it
		}
		return model.StateCPU, flags
	case os.Syscall == sysFutex && p.reader.WaitsForGIL(s.GIL, os.Args[0]):
		t.waitsGIL, t.switches = true, s.Switches
		t.asleep, t.state, t.flags = true, model.StateGILWait, 0
		return model.StateGILWait, flags
	}
	t.waitsGIL = false
	flags |= model.SampleInNative
	if os.Disk || fileCall(os.Syscall) && t.os.Disk() {
		flags |= model.SampleDiskWait
	}
	state := model.StateBlocked
	if t.waits {
		state = model.StateIdle
	}
	t.asleep, t.state, t.flags = flags&model.SampleDiskWait == 0, state, model.SampleInNative
	return state, flags
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
