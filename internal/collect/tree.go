package collect

import (
	"errors"
	"os"
	"slices"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// maxProcesses bounds the tree.
const maxProcesses = 4096

// youngFor is how long a new program may take until its interpreter is there.
const youngFor = 10 * time.Second

// tree follows a process and its descendants, and samples those that run Python.
type tree struct {
	s      *Sampler
	root   int
	self   int
	procs  map[int]*treeProcess
	order  []*treeProcess
	others map[int]bool // processes that do not belong to the tree
	pids   []int
	last   int  // the newest process at the last look
	hurry  bool // the root's interpreter is expected any moment
	over   bool // nothing of the tree is left
	ended  []SampledProcess
}

// treeProcess is one process of the tree.
type treeProcess struct {
	record.SampleProcess
	exe     string
	since   int64 // monotonic, when this program was first seen in it
	python  *pythonProcess
	settled bool // probing again is of no use until the program changes
	reason  string
	forked  bool   // runs the program of its parent
	mark    uint64 // of the program that was started in it
	served  bool   // what serves its malloc was written down
	owned   int64  // monotonic, when what is its own is read next; 0 not yet
}

func newTree(s *Sampler) *tree {
	return &tree{s: s, root: s.opts.PID, self: os.Getpid(), procs: map[int]*treeProcess{}, others: map[int]bool{}}
}

// scan finds new and ended processes, and looks for interpreters in those that may have one.
func (t *tree) scan(now int64) {
	if !t.find(now) {
		return
	}
	alive := t.order[:0]
	for _, p := range t.order {
		if t.check(p, now) {
			alive = append(alive, p)
		}
	}
	clear(t.order[len(alive):])
	t.order = alive
	t.over = len(t.order) == 0
	t.hurry = false
	for _, p := range t.order {
		if p.python == nil && !p.settled {
			t.probe(p, now)
			t.hurry = t.hurry || p.python == nil && !p.settled && now-p.since < int64(time.Second)
		}
	}
}

// find looks for new processes, where the kernel has made any since the last time.
func (t *tree) find(now int64) bool {
	last, known := proc.LastPID()
	if known && last == t.last {
		return true
	}
	pids, err := proc.PIDs(t.pids)
	if err != nil {
		return false
	}
	t.last = last
	slices.Sort(pids)
	t.pids = pids
	t.dropOthers()
	var foreign []int
	for more := true; more; { // until no parent was found after its child
		more, foreign = t.adopt(pids, now, foreign[:0])
	}
	for _, pid := range foreign {
		t.others[pid] = true
	}
	return true
}

// adopt adds processes whose parent is in the tree, says whether there were any, and names those that do not belong.
func (t *tree) adopt(pids []int, now int64, foreign []int) (added bool, _ []int) {
	for _, pid := range pids {
		if t.procs[pid] != nil || t.others[pid] || pid == t.self || len(t.procs) >= maxProcesses {
			continue
		}
		st, err := proc.ReadStat(pid)
		if err != nil {
			continue
		}
		if st.State == 'Z' && pid != t.root { // it has ended, and its parent does not look
			foreign = append(foreign, pid)
			continue
		}
		parent := t.procs[st.PPID]
		if pid != t.root && parent == nil {
			if st.PPID != t.self { // orphans of the tree come to a launcher that collects them
				foreign = append(foreign, pid)
			}
			continue
		}
		t.add(st, parent, now)
		added = true
	}
	return added, foreign
}

func (t *tree) add(st proc.Stat, parent *treeProcess, now int64) {
	p := &treeProcess{since: now}
	p.Host, p.PID, p.PPID, p.StartTicks = t.s.opts.Host, st.PID, st.PPID, st.StartTicks
	t.identify(p, parent)
	t.procs[p.PID] = p
	t.order = append(t.order, p)
	t.s.log.process(now, &p.SampleProcess)
}

// dropOthers forgets foreign processes that ended, since their numbers are reused.
func (t *tree) dropOthers() {
	for pid := range t.others {
		if _, there := slices.BinarySearch(t.pids, pid); !there {
			delete(t.others, pid)
		}
	}
}

// check notices that a number was reused, that a process is a zombie, and that it runs another program.
func (t *tree) check(p *treeProcess, now int64) bool {
	exe, err := proc.Exe(p.PID)
	if errors.Is(err, proc.ErrGone) { // a zombie has no executable
		t.end(p, now)
		return false
	}
	mark := proc.ProgramMark(p.PID)
	other := exe != p.exe || mark != p.mark && mark != 0
	if !other && p.python != nil {
		return true
	}
	st, err := proc.ReadStat(p.PID)
	if err != nil || st.StartTicks != p.StartTicks || st.State == 'Z' {
		t.end(p, now)
		return false
	}
	if other {
		t.leave(p)
		p.settled, p.served, p.since = false, false, now
		t.identify(p, t.procs[p.PPID])
		t.s.log.process(now, &p.SampleProcess)
	}
	return true
}

// leave ends the sampling of a process whose program ended or changed.
func (t *tree) leave(p *treeProcess) {
	if p.python != nil {
		p.python.close()
		t.ended = append(t.ended, p.python.account())
		p.python = nil
	}
}

func (t *tree) end(p *treeProcess, now int64) {
	if p.python == nil && p.reason != "" {
		t.ended = append(t.ended, SampledProcess{SampleProcess: p.SampleProcess, Reason: p.reason})
	}
	t.leave(p)
	delete(t.procs, p.PID)
	t.s.log.gone(now, p.PID)
	if p.PID == t.root && t.s.stats.RootEnded == 0 {
		t.s.stats.RootEnded = sinceStart(now, t.s.start)
	}
}

// probe looks for an interpreter.
func (t *tree) probe(p *treeProcess, now int64) {
	mem := proc.OpenMemory(p.PID)
	var in *cpython.Interpreter
	err := cpython.ErrNotReady
	if parent := t.procs[p.PPID]; p.forked && parent != nil && parent.python != nil {
		in, err = parent.python.interp.ForFork(p.PID, mem)
	}
	if err != nil {
		in, err = cpython.Find(p.PID, mem)
	}
	if err == nil {
		p.Python = in.Version
		p.python = newPythonProcess(t.s, p, in, mem)
		p.reason = ""
		return
	}
	mem.Close()
	young := now-p.since < int64(youngFor)
	switch {
	case errors.Is(err, cpython.ErrNotPython) || errors.Is(err, cpython.ErrNotReady):
		p.settled = !young
	case errors.Is(err, proc.ErrGone):
	case errors.Is(err, proc.ErrNotPermitted):
		p.settled = true
		if p.reason = proc.ReadPermission(p.PID).Advice(); p.reason == "" {
			p.reason = err.Error()
		}
	default:
		p.settled, p.reason = !young, err.Error()
	}
}

// sample takes one snapshot of every Python process.
func (t *tree) sample() {
	for _, p := range t.order {
		if p.python == nil {
			continue
		}
		if err := p.python.sample(); err != nil {
			t.leave(p) // the next scan sees whether it ended or runs another program
			p.since, p.forked = monotonic(), false
		}
	}
}

func (t *tree) late() {
	for _, p := range t.order {
		if p.python != nil {
			p.python.samples.Counts.Late++
		}
	}
}

func (t *tree) finish(now int64) {
	for _, p := range t.order {
		if p.python == nil && p.reason != "" {
			t.ended = append(t.ended, SampledProcess{SampleProcess: p.SampleProcess, Reason: p.reason})
		}
		t.leave(p)
	}
	st := &t.s.stats
	for _, p := range t.ended {
		st.Samples += p.Samples
		st.Failed += p.Failed
		st.Moved += p.Moved
	}
	st.Processes = t.ended
}
