package collect

import (
	"fmt"
	"os"
	"path"
	"strings"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// dumpAttempts is how often a process is read until every stack of it is whole.
const dumpAttempts = 50

// DumpedProcess are the stacks of one process at one moment.
type DumpedProcess struct {
	PID     int            `json:"pid"`
	PPID    int            `json:"ppid"`
	Role    model.Role     `json:"role"`
	Rank    *int           `json:"rank"`
	Python  string         `json:"python"`
	Command []string       `json:"command"`
	Threads []DumpedThread `json:"threads"`
	// Collective is the function of torch.distributed in which the process stands, "" outside of them.
	Collective string `json:"collective,omitempty"`
	// Reason says why there are no stacks.
	Reason string `json:"reason,omitempty"`
}

// DumpedThread is one thread. Frames are innermost first.
type DumpedThread struct {
	TID      int           `json:"tid"`
	Name     string        `json:"name,omitempty"`
	State    string        `json:"state"`
	HoldsGIL bool          `json:"holds_gil"`
	GC       bool          `json:"gc,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Frames   []DumpedFrame `json:"frames"`
}

// DumpedFrame is one line of one function, with its variables where they were asked for.
type DumpedFrame struct {
	Function string          `json:"function"`
	File     string          `json:"file"`
	Line     int32           `json:"line"`
	Locals   []cpython.Local `json:"locals,omitempty"`
}

// Dump reads the stacks of a process and its descendants once. A process without Python is left out, unless it is the
// one that was asked for; then the error says why.
func Dump(pid int, locals bool) ([]DumpedProcess, error) {
	if _, err := proc.ReadStat(pid); err != nil {
		return nil, fmt.Errorf("process %d: %s", pid, proc.Permission{}.Advice())
	}
	mono, unix := clockPair()
	host, _ := os.Hostname()
	s := &Sampler{opts: SamplerOptions{PID: pid, Hz: DefaultHz, Host: host}, writer: record.NewSampleWriter(unix, mono), start: mono}
	t := newTree(s)
	t.scan(mono)
	defer func() {
		for _, p := range t.order {
			t.leave(p)
		}
	}()
	out := []DumpedProcess{}
	for _, p := range t.order {
		switch {
		case p.python != nil:
			out = append(out, p.python.dump(locals))
		case p.reason != "":
			out = append(out, dumpHead(p))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("process %d: %s", pid, whyNot(pid))
	}
	return out, nil
}

// whyNot says why a process has no Python stacks.
func whyNot(pid int) string {
	mem := proc.OpenMemory(pid)
	defer mem.Close()
	permission := proc.ReadPermission(pid)
	if permission.Kernel || !permission.Running {
		return permission.Advice()
	}
	_, err := cpython.Find(pid, mem)
	if err == nil {
		return "it ended or changed while it was read; try again"
	}
	if advice := permission.Advice(); advice != "" {
		return advice
	}
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("process %d", pid)+": ")
}

// WhyNotPython says why the Python of a process cannot be sampled, "" where it can.
func WhyNotPython(pid int) string {
	mem := proc.OpenMemory(pid)
	defer mem.Close()
	if _, err := cpython.Find(pid, mem); err == nil {
		return ""
	}
	return whyNot(pid)
}

func dumpHead(p *treeProcess) DumpedProcess {
	d := DumpedProcess{PID: p.PID, PPID: p.PPID, Role: p.Role, Python: p.Python, Command: p.Args, Threads: []DumpedThread{},
		Reason: p.reason}
	if p.Rank != model.NoRank {
		d.Rank = &p.Rank
	}
	return d
}

// dump reads until every thread's stack is whole, and takes what there is after that.
func (p *pythonProcess) dump(locals bool) DumpedProcess {
	for range dumpAttempts {
		if err := p.reader.Take(&p.shot); err != nil {
			d := dumpHead(p.p)
			d.Reason = err.Error()
			return d
		}
		whole := true
		for i := range p.shot.Threads {
			whole = whole && p.shot.Threads[i].Fault == cpython.FaultNone
		}
		if whole {
			break
		}
	}
	var threads []DumpedThread
	main := 0
	for i := range p.shot.Threads {
		th := &p.shot.Threads[i]
		t := &pythonThread{}
		p.openThread(t, th)
		t.waits = waitsForWork(th.Frames, t.tid == p.p.PID)
		for k := range th.Frames {
			p.learnRole(th.Frames[k].Code)
		}
		if t.tid == p.p.PID {
			main = len(threads)
		}
		threads = append(threads, p.dumpThread(t, th, locals))
		if t.os != nil {
			t.os.Close()
		}
	}
	d := dumpHead(p.p)
	if len(threads) > 0 { // the main thread first
		d.Threads = append(append(d.Threads, threads[main]), append(threads[:main:main], threads[main+1:]...)...)
	}
	for _, t := range d.Threads {
		if d.Collective == "" {
			d.Collective = collectiveOf(t.Frames)
		}
	}
	return d
}

func (p *pythonProcess) dumpThread(t *pythonThread, s *cpython.ThreadSample, locals bool) DumpedThread {
	state, flags := p.state(t, s)
	d := DumpedThread{TID: t.tid, Name: t.name, State: record.StateWord(state), HoldsGIL: flags&model.SampleHoldsGIL != 0,
		GC: flags&model.SampleGC != 0, Frames: []DumpedFrame{}}
	if s.Fault != cpython.FaultNone {
		d.Fault = "the stack changed too fast to be read whole"
	}
	for i := range s.Frames {
		f := p.frame(&s.Frames[i])
		out := DumpedFrame{Function: f.Function, File: f.File, Line: f.Line}
		if locals {
			out.Locals, _ = p.reader.Locals(s.Addr, i)
		}
		d.Frames = append(d.Frames, out)
	}
	return d
}

// collectiveOf names the public function of torch.distributed that a stack stands in, the outermost one of those.
func collectiveOf(frames []DumpedFrame) string {
	name := ""
	for _, f := range frames {
		if strings.HasSuffix(path.Dir(f.File), "torch/distributed") && path.Base(f.File) == "distributed_c10d.py" &&
			!strings.HasPrefix(f.Function, "_") {
			name = f.Function
		}
	}
	return name
}
