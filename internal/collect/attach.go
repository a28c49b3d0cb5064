package collect

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
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
	PID  int        `json:"pid"`
	PPID int        `json:"ppid"`
	Role model.Role `json:"role"`
	Rank *int       `json:"rank"`
	// WorldSize is the number of ranks of the job as the environment tells it, 0 where it does not.
	WorldSize int    `json:"world_size,omitempty"`
	Python    string `json:"python"`
	// NoGIL: its interpreter runs without that lock.
	NoGIL   bool           `json:"no_gil,omitempty"`
	Command []string       `json:"command"`
	Threads []DumpedThread `json:"threads"`
	// Tasks are asyncio's, of all event loops.
	Tasks []DumpedTask `json:"tasks,omitempty"`
	// Collective is where the first of its threads that stands in a collective does, "" outside of them.
	Collective string `json:"collective,omitempty"`
	// Reason says why there are no stacks.
	Reason string `json:"reason,omitempty"`
	// NativeThreads are those that run no Python, where native frames were asked for.
	NativeThreads []DumpedThread `json:"native_threads,omitempty"`
	// NativeReason says why there are no native frames though they were asked for.
	NativeReason string `json:"native_reason,omitempty"`
}

// DumpedThread is one thread. Frames are innermost first.
type DumpedThread struct {
	TID      int    `json:"tid"`
	Name     string `json:"name,omitempty"`
	State    string `json:"state"`
	HoldsGIL bool   `json:"holds_gil"`
	// Attached: it runs Python, or C code that has not let go of an interpreter without a GIL.
	Attached bool `json:"attached,omitempty"`
	GC       bool `json:"gc,omitempty"`
	// Interpreter is 0 for the main one; others count from 1. A thread stands in the list once for each that it runs in.
	Interpreter int    `json:"interpreter,omitempty"`
	Fault       string `json:"fault,omitempty"`
	// Collective is the function of torch.distributed in which the thread stands; "backward" where a rank sleeps in
	// autograd's backward, which exchanges gradients without a Python frame of its own; "" elsewhere.
	Collective string        `json:"collective,omitempty"`
	Frames     []DumpedFrame `json:"frames"`
	// Native says what is missing of the native frames that were asked for, "" where they are whole.
	Native string `json:"native_missing,omitempty"`
}

// DumpedTask is a task of asyncio that has not ended. Frames are the coroutines of what it awaits, innermost first.
type DumpedTask struct {
	Name string `json:"name,omitempty"`
	// Awaits is what the innermost coroutine awaits: "task NAME" or the type of a future; "" for one that runs.
	Awaits string        `json:"awaits,omitempty"`
	Frames []DumpedFrame `json:"frames"`
}

// DumpedFrame is one line of one function, with its variables where they were asked for; or a native function, whose
// file is the library and whose line is not known.
type DumpedFrame struct {
	Function string          `json:"function"`
	File     string          `json:"file"`
	Line     int32           `json:"line,omitempty"`
	Native   bool            `json:"native,omitempty"`
	Locals   []cpython.Local `json:"locals,omitempty"`
}

// DumpOptions say what is read beside the Python stacks.
type DumpOptions struct {
	Locals bool
	Native NativeMode
}

// Dump reads the stacks of a process and its descendants once. A process without Python is left out, unless it is the
// one that was asked for; then the error says why.
func Dump(pid int, o DumpOptions) (list []DumpedProcess, err error) {
	done := make(chan struct{})
	go func() {
		// A thread that is stopped belongs to the thread that stopped it. That one ends with this goroutine, and the kernel
		// lets go whatever it may still hold.
		runtime.LockOSThread()
		defer close(done)
		list, err = dump(pid, o)
	}()
	<-done
	return list, err
}

func dump(pid int, o DumpOptions) ([]DumpedProcess, error) {
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
			out = append(out, p.python.dump(o))
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
	if permission.Kernel || permission.Ended || !permission.Running {
		return permission.Advice()
	}
	_, err := cpython.Find(pid, mem)
	if err == nil {
		return "it ended or changed while it was read; try again"
	}
	if advice := permission.Advice(); advice != "" {
		return advice
	}
	for _, known := range []error{cpython.ErrNotPython, cpython.ErrOtherPython} {
		if exe, exeErr := proc.Exe(pid); errors.Is(err, known) && exeErr == nil {
			return fmt.Sprintf("%v (%s)", known, exe)
		}
	}
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("process %d: ", pid))
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
	d := DumpedProcess{PID: p.PID, PPID: p.PPID, Role: p.Role, WorldSize: p.WorldSize, Python: p.Python, Command: p.Args,
		Threads: []DumpedThread{}, Reason: p.reason}
	if p.Rank != model.NoRank {
		d.Rank = &p.Rank
	}
	return d
}

// dump reads until every thread's stack is whole, and takes what there is after that.
func (p *pythonProcess) dump(o DumpOptions) DumpedProcess {
	d := dumpHead(p.p)
	n, err := p.nativeFor(o.Native)
	if err != nil {
		d.NativeReason = err.Error()
	}
	if n != nil {
		defer n.close()
		_ = p.reader.Take(&p.shot) // tells whom to ask; an error shows itself again
	}
	for range dumpAttempts {
		n.ask(p.shot.Threads, o.Native, p)
		if err := p.reader.Take(&p.shot); err != nil {
			d.Reason = err.Error()
			return d
		}
		whole := true
		for i := range p.shot.Threads {
			d.NoGIL = withoutGIL(&p.shot.Threads[i])
			whole = whole && p.shot.Threads[i].Fault == cpython.FaultNone
		}
		if !whole {
			continue
		}
		if d.Threads, whole = p.dumpThreads(o, n); whole {
			break
		}
	}
	if len(d.Threads) == 0 {
		d.Threads, _ = p.dumpThreads(o, n)
	}
	d.Tasks = dumpTasks(p.reader)
	if n != nil {
		d.NativeThreads = p.dumpNativeThreads(n, d.Threads)
	}
	for _, t := range d.Threads {
		if d.Collective == "" {
			d.Collective = t.Collective
		}
	}
	return d
}

// dumpThreads describes the threads of the snapshot, the main thread first; ok says that the native stacks fit to it.
func (p *pythonProcess) dumpThreads(o DumpOptions, n *nativeStacks) (threads []DumpedThread, ok bool) {
	threads, ok = []DumpedThread{}, true
	first := mainInterpreter(&p.shot)
	for i := range p.shot.Threads {
		th := &p.shot.Threads[i]
		t := &pythonThread{}
		p.openThread(t, th)
		t.waits = waitsForWork(th.Frames, t.tid == p.p.PID)
		for k := range th.Frames {
			p.learnRole(th.Frames[k].Code)
		}
		d, fits := p.dumpThread(t, th, o, n)
		d.Interpreter = first - th.Interp
		if t.os != nil {
			t.os.Close()
		}
		if ok = ok && fits; t.tid == p.p.PID {
			threads = append([]DumpedThread{d}, threads...)
		} else {
			threads = append(threads, d)
		}
	}
	return threads, ok
}

// mainInterpreter is the index of the first interpreter: newer ones are put in front of it.
func mainInterpreter(shot *cpython.Snapshot) int {
	index := 0
	for i := range shot.Threads {
		index = max(index, shot.Threads[i].Interp)
	}
	return index
}

func (p *pythonProcess) dumpThread(t *pythonThread, s *cpython.ThreadSample, o DumpOptions, n *nativeStacks) (d DumpedThread, ok bool) {
	var frames []mixedFrame
	missing := ""
	if frames, ok = pythonOnly(s.Frames), true; n != nil {
		frames, missing, ok = p.around(n, t, s, frames, o.Native)
	}
	state, flags := p.state(t, s)
	d = DumpedThread{TID: t.tid, Name: t.name, State: record.StateWord(state), HoldsGIL: flags&model.SampleHoldsGIL != 0,
		Attached: flags&model.SampleAttached != 0, GC: flags&model.SampleGC != 0, Frames: []DumpedFrame{}, Native: missing}
	if s.Fault != cpython.FaultNone {
		d.Fault = "the stack changed too fast to be read whole"
	}
	for _, m := range frames {
		if m.python < 0 {
			d.Frames = append(d.Frames, dumpedNative(m.native))
			continue
		}
		f := p.frame(&s.Frames[m.python])
		out := DumpedFrame{Function: f.Function, File: f.File, Line: f.Line}
		if o.Locals {
			out.Locals, _ = p.reader.Locals(s.Addr, m.python)
		}
		d.Frames = append(d.Frames, out)
	}
	if d.Collective = collectiveOf(d.Frames); d.Collective == "" && state == model.StateBlocked && p.p.WorldSize > 1 {
		d.Collective = sleepsIn(d.Frames)
	}
	return d, ok
}

// dumpTasks reads asyncio's tasks; one that cannot be read is left out.
func dumpTasks(r *cpython.Reader) []DumpedTask {
	list, _ := r.Tasks()
	var out []DumpedTask
	for _, t := range list {
		d := DumpedTask{Name: t.Name, Awaits: t.Waits, Frames: []DumpedFrame{}}
		for i := range t.Frames {
			c := t.Frames[i].Code
			d.Frames = append(d.Frames, DumpedFrame{Function: c.Function, File: c.File, Line: t.Frames[i].Line()})
		}
		out = append(out, d)
	}
	return out
}

// collectiveOf names the public function of torch.distributed that a stack stands in, the outermost one of those.
func collectiveOf(frames []DumpedFrame) string {
	name := ""
	for _, f := range frames {
		if strings.HasSuffix(path.Dir(f.File), "torch/distributed") && path.Base(f.File) == "distributed_c10d.py" &&
			!asksOnly.MatchString(f.Function) {
			name = f.Function
		}
	}
	return name
}

// asksOnly matches functions of distributed_c10d.py in which no rank waits for another, and its inner ones.
var asksOnly = regexp.MustCompile(`^(_|<|get_|is_|supports_)`)

// sleepsIn names the part of training in which other ranks are waited for without a Python frame of a collective: the
// gradients that DistributedDataParallel reduces during backward, and what it compares and sends when it is built or
// called. "" elsewhere.
func sleepsIn(frames []DumpedFrame) string {
	for _, f := range frames {
		switch {
		case f.Native:
		case strings.HasSuffix(f.File, "torch/autograd/graph.py"), strings.HasSuffix(f.File, "torch/autograd/__init__.py"):
			return "backward"
		case strings.HasSuffix(f.File, "torch/nn/parallel/distributed.py"):
			return "DistributedDataParallel"
		case !strings.Contains(f.File, "/torch/"):
			return ""
		}
	}
	return ""
}
