package collect

import (
	"fmt"
	"strings"

	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// DumpCore reads the stacks of a process as it ended, from a core file. What its threads were doing in the kernel is not
// in one: their state is unknown. root is where the files lie that the process had mapped, "" for this machine's own.
func DumpCore(path, root string, locals bool) (DumpedProcess, error) {
	core, err := proc.OpenCore(path)
	if err != nil {
		return DumpedProcess{}, err
	}
	defer core.Close()
	core.Root = root
	in, err := cpython.FindCore(core)
	if err != nil {
		return DumpedProcess{}, fmt.Errorf("core file %s: %w", path, err)
	}
	r := cpython.NewReader(in, core, DefaultHz)
	var shot cpython.Snapshot
	for range 3 { // the first one learns where the stacks end
		if err := r.Take(&shot); err != nil {
			return DumpedProcess{}, fmt.Errorf("core file %s: %w", path, err)
		}
	}
	names, _ := r.ThreadNames() // what could be read counts
	args := strings.Fields(core.Command)
	d := DumpedProcess{PID: core.PID, PPID: core.PPID, Role: roleOf(args, model.NoRank, true), Python: in.Version, Command: args,
		Threads: []DumpedThread{}}
	ids := &threadIDs{pid: core.PID, mem: core, fixed: append([]int{}, core.Threads...)}
	for i := range shot.Threads {
		t := coreThread(r, &shot.Threads[i], locals)
		t.TID = ids.native(shot.Threads[i].ID, shot.Threads[i].Native)
		t.Name = names[shot.Threads[i].ID]
		t.Interpreter = mainInterpreter(&shot) - shot.Threads[i].Interp
		if t.TID == core.PID { // the main thread first
			d.Threads = append([]DumpedThread{t}, d.Threads...)
		} else {
			d.Threads = append(d.Threads, t)
		}
	}
	d.Tasks = dumpTasks(r)
	return d, nil
}

func coreThread(r *cpython.Reader, s *cpython.ThreadSample, locals bool) DumpedThread {
	d := DumpedThread{State: record.StateWord(model.StateUnknown), HoldsGIL: s.HoldsGIL, GC: s.GC, Frames: []DumpedFrame{}}
	if s.Fault != cpython.FaultNone {
		d.Fault = "the stack does not hold together"
	}
	for i := range s.Frames {
		c := s.Frames[i].Code
		f := DumpedFrame{Function: c.Function, File: c.File, Line: s.Frames[i].Line()}
		if locals {
			f.Locals, _ = r.Locals(s.Addr, i)
		}
		d.Frames = append(d.Frames, f)
	}
	d.Collective = collectiveOf(d.Frames)
	return d
}
