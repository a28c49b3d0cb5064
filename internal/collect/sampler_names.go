package collect

import (
	"path"
	"strings"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// nameTries is how often a thread's name is looked for: a new thread enters its name a little after its first line.
const nameTries = 4

// namesEvery is how many times a second the names of threads are read at most, for programs that start threads all the
// time.
const namesEvery = 20

// nameThread names a thread as Python does. One that threading does not know, or knows as a dummy only, has the kernel's
// name where the program set one, else that of the function that it was started with.
func (p *pythonProcess) nameThread(t *pythonThread, s *cpython.ThreadSample) {
	if p.names == nil || p.tick-p.namesAt >= max(1, int64(p.s.opts.Hz/namesEvery)) {
		p.names, _ = p.reader.ThreadNames() // what could be read counts
		p.namesAt = p.tick
	}
	if p.namesAt != p.tick && t.name != "" {
		return
	}
	name := ""
	if p.namesAt == p.tick { // older ones may be of a thread that had the same ident
		name = p.names[s.ID]
		t.tries++
	}
	t.named = name != ""
	if name == "" || strings.HasPrefix(name, "Dummy-") {
		if other := threadTitle(p.p.PID, t.tid, s.Frames); other != "" {
			name = other
		}
	}
	if name != t.name {
		t.name = name
		p.samples.NameThread(int32(t.tid), t.name)
	}
}

// threadTitle names a thread from outside of Python.
func threadTitle(pid, tid int, frames []cpython.RawFrame) string {
	if tid == pid {
		return "MainThread"
	}
	if tid > 0 {
		if name := proc.ThreadName(pid, tid); name != "" && name != proc.ThreadName(pid, pid) {
			return name
		}
	}
	target := ""
	for i := len(frames) - 1; i >= 0; i-- {
		c := frames[i].Code
		if target = c.Function; path.Base(c.File) != "threading.py" {
			break
		}
	}
	return target
}
