package collect

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// pythonProcess samples one interpreter.
type pythonProcess struct {
	s       *Sampler
	p       *treeProcess
	interp  *cpython.Interpreter
	mem     *proc.Live
	reader  *cpython.Reader
	shot    cpython.Snapshot
	samples *record.ProcessSamples
	ids     *threadIDs
	frames  map[uint64]int32 // code and instruction to a frame of the stack table
	epoch   int              // of the stack table
	threads map[uint64]*pythonThread
	tick    int64
	count   SampledProcess
	live    []record.SampleFrame
	names   map[uint64]string // of threads, by ident
	namesAt int64             // tick at which they were read
	asked   int               // tries to learn a worker's number
	present int               // threads of the snapshot that are known
	good    bool              // some thread of the snapshot could be read
	lost    int               // snapshots in a row without one
	native  *nativeStacks     // nil: Python frames only
	events  int               // threads that the kernel is asked about
	pending int               // thread that was asked to stop and did not in time
	awake   []awakeThread     // of the snapshot, to be settled at its end
	sleep   map[uint64]int    // threads of the snapshot that sleep for a lock, by its address
	unknown int               // threads of the snapshot without frames
	gils    map[uint64]bool   // locks of the interpreters, by address
	// nextAwait is when tasks may be read again.
	nextAwait int64
}

// maxLost is the number of snapshots in a row without a readable thread after which the interpreter is looked for
// anew: the process may run another program at the same place.
const maxLost = 64

var errLost = errors.New("no thread can be read any more")

// pythonThread is what is kept of one thread between samples.
type pythonThread struct {
	tid      int
	noted    int // the native id that the interpreter notes
	os       *proc.Thread
	stack    int32
	waits    bool  // the stack is one that waits for work
	loop     int   // of the frames, innermost first, the one that is asyncio's event loop; 0 where none is below the wait
	awaits   int32 // the stack with what the loop waits for
	seen     int64
	name     string
	named    bool // by threading
	tries    int  // to learn that name
	asleep   bool // it slept at its last sample, in this state
	state    model.ThreadState
	flags    uint8
	waitsGIL bool   // it waited for the GIL at its last sample
	counted  bool   // the lock counts it among those that wait
	switches uint64 // the GIL's count of changes then
	c        nativeThread
}

func newPythonProcess(s *Sampler, p *treeProcess, in *cpython.Interpreter, mem *proc.Live) *pythonProcess {
	python := &pythonProcess{s: s, p: p, interp: in, mem: mem, reader: cpython.NewReader(in, mem, s.opts.Hz),
		samples: s.writer.Process(p.SampleProcess, s.opts.Hz), ids: newThreadIDs(p.PID, in, mem),
		frames: map[uint64]int32{}, threads: map[uint64]*pythonThread{}, sleep: map[uint64]int{}, gils: map[uint64]bool{}}
	python.reader.Asleep = python.stillAsleep
	python.startNative()
	return python
}

func (p *pythonProcess) close() {
	for _, t := range p.threads {
		p.closeNative(t)
		if t.os != nil {
			t.os.Close()
		}
	}
	p.release()
	p.samples.End()
	p.mem.Close()
}

func (p *pythonProcess) account() SampledProcess {
	p.count.SampleProcess = p.p.SampleProcess
	return p.count
}

// sample takes one snapshot and stores it.
func (p *pythonProcess) sample() error {
	p.tick++
	now := monotonic()
	if p.native != nil {
		p.beginNative()
	}
	if err := p.reader.Take(&p.shot); err != nil {
		return err
	}
	p.samples.Counts.Snapshots++
	if p.tick%listenEvery == 1 {
		p.learnListens()
	}
	if p.epoch != p.s.writer.Stacks.Epoch {
		p.epoch = p.s.writer.Stacks.Epoch
		clear(p.frames)
		for _, t := range p.threads {
			t.stack, t.awaits = noStack, noStack
		}
	}
	p.present, p.unknown = 0, 0
	clear(p.sleep)
	clear(p.gils)
	for i := range p.shot.Threads {
		if gil := p.shot.Threads[i].GIL; gil != 0 {
			p.gils[gil] = true
		}
	}
	for i := range p.shot.Threads {
		if !outer(p.shot.Threads, i) {
			p.thread(now, &p.shot.Threads[i])
		}
	}
	p.settleAwake(now)
	if len(p.threads) > p.present {
		p.forget()
	}
	if p.lost++; p.good {
		p.lost, p.good = 0, false
	}
	if p.lost > maxLost && len(p.shot.Threads) > 0 {
		return errLost
	}
	if p.s.stats.FirstSample == 0 && p.count.Samples > 0 {
		p.s.stats.FirstSample = sinceStart(now, p.s.start)
	}
	return nil
}

// outer says whether a thread runs code of a newer interpreter meanwhile: it has a state in each of them, and its time
// counts once. Newer interpreters come first.
func outer(threads []cpython.ThreadSample, i int) bool {
	if threads[i].Interp == 0 {
		return false
	}
	for k := range i {
		if threads[k].ID == threads[i].ID && threads[k].Interp != threads[i].Interp && len(threads[k].Frames) > 0 {
			return true
		}
	}
	return false
}

// withoutGIL says whether a thread's interpreter runs without a lock: a free-threaded build in which nothing switched it on.
func withoutGIL(s *cpython.ThreadSample) bool {
	return s.GIL == 0 && s.Attached != cpython.AttachUnknown
}

// locks counts the locks of the snapshot's interpreters.
func (p *pythonProcess) locks() int {
	if len(p.gils) == 0 && !slices.ContainsFunc(p.shot.Threads, func(s cpython.ThreadSample) bool { return withoutGIL(&s) }) {
		return 1 // one that is about to start
	}
	return len(p.gils)
}

// workerLoop is the function that a DataLoader's worker runs.
const workerLoop = "_worker_loop"

const noStack = -2 // unlike -1, which is the empty stack

func (p *pythonProcess) thread(now int64, s *cpython.ThreadSample) {
	p.good = p.good || s.Fault == cpython.FaultNone
	t := p.threads[s.Addr]
	if t == nil {
		if s.Fault != cpython.FaultNone {
			p.fail()
		}
		if len(s.Frames) == 0 {
			p.unknown++
			return // nothing to name it by yet
		}
		t = &pythonThread{stack: noStack, c: nativeThread{stack: noStack}}
		p.threads[s.Addr] = t
		p.openThread(t, s)
	}
	if t.seen != p.tick {
		t.seen = p.tick
		p.present++
	}
	if s.Fault == cpython.FaultNone && s.Native != t.noted {
		p.renumber(t, s)
	}
	switch {
	case s.Fault != cpython.FaultNone:
		p.fail()
		p.unknown++
		t.stack = noStack
		return
	case len(s.Frames) == 0:
		p.unknown++
		t.stack = noStack
		return // a thread that runs no Python, or none yet
	case !s.Same || t.stack == noStack:
		t.stack = p.stackOf(s.Frames)
		t.waits, t.loop, t.awaits = waitsForWork(s.Frames, t.tid == p.p.PID), eventLoop(s.Frames), noStack
		if p.p.Role == model.RoleWorker && p.p.WorkerIndex < 0 && p.asked < 10 {
			p.asked++
			p.learnIndex(s)
		}
	}
	if !t.named && t.tries < nameTries {
		p.nameThread(t, s)
	}
	if s.Moved {
		p.count.Moved++
	}
	state, flags := p.state(t, s)
	if state == model.StateGILWait {
		if t.counted {
			p.sleep[s.GIL]++
		}
	} else if state == model.StateCPU && flags&model.SampleInNative != 0 && !s.Moved {
		p.awake = append(p.awake, awakeThread{t, s, flags})
		return
	}
	if t.loop > 0 && state == model.StateIdle && p.native == nil {
		p.await(t, s)
	}
	p.keep(now, t, s, state, flags)
}

// keep stores a thread's sample, with native frames where those are wanted.
func (p *pythonProcess) keep(now int64, t *pythonThread, s *cpython.ThreadSample, state model.ThreadState, flags uint8) {
	if p.native != nil {
		p.storeNative(now, t, s, state, flags)
		return
	}
	stack := t.stack
	if state == model.StateIdle && t.loop > 0 && t.awaits != noStack {
		stack = t.awaits
	}
	p.store(now, t, stack, state, flags)
}

// store adds a sample to the recording and tells the live view.
func (p *pythonProcess) store(mono int64, t *pythonThread, stack int32, state model.ThreadState, flags uint8) {
	p.samples.Add(mono, int32(t.tid), stack, state, flags)
	p.count.Samples++
	if p.s.opts.Live != nil {
		p.tell(mono, t, stack, state, flags)
	}
}

// openThread finds the native thread behind a new Python thread.
func (p *pythonProcess) openThread(t *pythonThread, s *cpython.ThreadSample) {
	p.number(t, s)
	p.nameThread(t, s)
}

func (p *pythonProcess) number(t *pythonThread, s *cpython.ThreadSample) {
	t.noted, t.tid = s.Native, p.ids.native(s.ID, s.Native)
	if t.tid > 0 {
		t.os, _ = proc.OpenThread(p.p.PID, t.tid)
	}
}

// renumber opens the native thread of a Python thread anew: in a child that has just been forked the interpreter still notes its parent's.
func (p *pythonProcess) renumber(t *pythonThread, s *cpython.ThreadSample) {
	p.closeNative(t)
	if t.os != nil {
		t.os.Close()
	}
	t.os, t.c, t.stack = nil, nativeThread{stack: noStack}, noStack
	p.number(t, s)
}

func (p *pythonProcess) fail() {
	p.samples.Counts.Failed++
	p.count.Failed++
}

func (p *pythonProcess) forget() {
	for addr, t := range p.threads {
		if t.seen != p.tick {
			p.closeNative(t)
			if t.os != nil {
				t.os.Close()
			}
			delete(p.threads, addr)
		}
	}
}

// stackOf interns a stack, outermost frame first.
func (p *pythonProcess) stackOf(frames []cpython.RawFrame) int32 {
	table := p.s.writer.Stacks
	at := int32(-1)
	for i := len(frames) - 1; i >= 0; i-- {
		at = table.Push(at, p.frameID(&frames[i]))
	}
	return at
}

// frameID is the number of a Python frame in the stack table.
func (p *pythonProcess) frameID(f *cpython.RawFrame) int32 {
	key := uint64(uint32(f.Code.ID))<<32 | uint64(uint32(f.Offset))
	id, ok := p.frames[key]
	if !ok {
		id = p.s.writer.Stacks.Frame(p.frame(f))
		p.frames[key] = id
		p.learnRole(f.Code)
	}
	return id
}

func (p *pythonProcess) frame(f *cpython.RawFrame) record.SampleFrame {
	return record.SampleFrame{Function: f.Code.Function, File: f.Code.File, First: f.Code.First, Line: f.Line()}
}

// learnRole recognises workers by what they run: forked ones have their parent's command line.
func (p *pythonProcess) learnRole(c *cpython.Code) {
	switch {
	case c.Function == workerLoop && strings.HasSuffix(c.File, "torch/utils/data/_utils/worker.py"):
		p.p.Role = model.RoleWorker
	case p.p.Role == model.RoleOther && strings.Contains(c.File, "torch/_inductor/compile_worker/"):
		p.p.Role = model.RoleCompile
	default:
		return
	}
	p.samples.Process.Role = p.p.Role
}

// listenEvery is the number of snapshots after which a process is asked anew whether it listens.
const listenEvery = 256

// learnListens asks the kernel whether others can ask something of the process: a loop that waits is a server's then, else it waits for an
// answer.
func (p *pythonProcess) learnListens() {
	if p.samples.Process.Listens == model.ListensYes {
		return
	}
	if listens, err := proc.Listens(p.p.PID); err != nil {
		return
	} else if listens {
		p.samples.Process.Listens = model.ListensYes
	} else {
		p.samples.Process.Listens = model.ListensNo
	}
}

// learnIndex reads the number of a DataLoader worker: the variable worker_id of the loop that it runs.
func (p *pythonProcess) learnIndex(s *cpython.ThreadSample) {
	for i := range s.Frames {
		if s.Frames[i].Code.Function != workerLoop {
			continue
		}
		locals, err := p.reader.Locals(s.Addr, i)
		if err != nil {
			return
		}
		for _, l := range locals {
			if n, err := strconv.Atoi(l.Value); err == nil && l.Name == "worker_id" && l.Type == "int" && n >= 0 && n < 1<<16 {
				p.p.WorkerIndex = n
				p.samples.Process.WorkerIndex = n
			}
		}
	}
}

// tell passes a sample to the live view.
func (p *pythonProcess) tell(now int64, t *pythonThread, stack int32, state model.ThreadState, flags uint8) {
	p.live = p.s.writer.Stacks.Frames(stack, p.live[:0])
	p.s.opts.Live(LiveSample{PID: p.p.PID, Process: p.p.SampleProcess, Thread: int32(t.tid), Name: t.name, Mono: now,
		State: state, Flags: flags, GILs: p.locks(), Frames: p.live})
}
