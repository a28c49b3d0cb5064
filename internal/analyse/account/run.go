package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// RunPart is a stretch of a whole run: what comes before the steps, the steps by kind, what lies between and after them.
type RunPart struct {
	ID       RunPartID
	Kind     model.Str // of the steps, for RunSteps
	Steps    int
	Time     float64 // ns
	DiskWait float64 // ns of Time in which the main thread waited for the disk, by its samples; of RunImports and RunPreparation
	Imports  float64 // ns of Time that go into importing modules; of RunFirstSteps, as optimizers import torch's compiler
	Exit     float64 // ns of Time in which the interpreter ends, after the program's last statement; of RunAfter
}

// RunPartID names a part of a run, in the order in which a run goes through them.
type RunPartID uint8

// Parts of a run.
const (
	RunImports     RunPartID = iota // importing modules before the first step
	RunPreparation                  // everything else before the first step
	RunFirstSteps                   // warm-up steps, which no account of steps counts
	RunSteps
	RunBetween // from the end of one step to the beginning of the next
	RunAfter   // from the end of the last step to the end of the run
)

// OfRun splits the run by what its driving process did; the parts' times sum to the run's. Nil where no steps were seen in it.
func OfRun(run *model.Run, p *model.Process) []RunPart {
	if run == nil || p == nil || len(p.Steps) == 0 || run.End <= run.Start {
		return nil
	}
	steps := slices.Clone(p.Steps)
	slices.SortFunc(steps, func(a, b model.Step) int { return cmp.Compare(a.Start, b.Start) })
	first := min(max(steps[0].Start, run.Start), run.End)

	all := Importing(p)
	imports := slices.Clone(all)
	for i := range imports {
		imports[i].Start, imports[i].End = max(imports[i].Start, run.Start), min(imports[i].End, first)
	}
	imports = times.Disjoint(imports)
	out := []RunPart{
		{ID: RunImports, Time: times.Covered(imports)},
		{ID: RunPreparation, Time: float64(first - run.Start)},
	}
	out[1].Time -= out[0].Time
	diskWaits(out, p, imports, first)

	between := 0.0
	at := first
	own, device := map[model.Str][]float64{}, map[model.Str][]float64{}
	for i := range steps {
		st := &steps[i]
		begin, end := min(max(st.Start, at), run.End), min(max(st.End, at), run.End)
		if i > 0 && steps[i-1].Skipped > 0 {
			begin = at // steps without entries of their own
		}
		between += float64(begin - at)
		id, kind := RunSteps, st.Kind
		if st.Phase == model.PhaseWarmup {
			id, kind = RunFirstSteps, model.Str(0)
		}
		k := slices.IndexFunc(out, func(r RunPart) bool { return r.ID == id && r.Kind == kind })
		if k < 0 {
			k = len(out)
			out = append(out, RunPart{ID: id, Kind: kind})
		}
		out[k].Time += float64(end - begin)
		out[k].Steps += st.Count()
		if id == RunFirstSteps {
			out[k].Imports += times.Overlap(all, begin, end)
		}
		if id == RunSteps {
			own[kind] = append(own[kind], float64(end-begin))
			device[kind] = append(device[kind], float64(st.DeviceDur))
		}
		at = end
	}
	after := float64(run.End - at)
	for i := range out {
		if out[i].ID != RunSteps {
			continue
		}
		// Steps that a device computes when the program is through with them are steps still, whatever waits for their end.
		_, ahead := ByDevice(own[out[i].Kind], device[out[i].Kind])
		paused := min(ahead, between)
		ended := min(ahead-paused, after)
		between, after = between-paused, after-ended
		out[i].Time += paused + ended
	}
	return append(out, RunPart{ID: RunBetween, Time: between}, RunPart{ID: RunAfter, Time: after, Exit: min(exiting(run, p), after)})
}

// exiting is how long the interpreter of the process that was started takes to end, in ns: it frees what the program holds and unloads its
// libraries. 0 where another process drives the steps, or the process was ended by something else.
func exiting(run *model.Run, p *model.Process) float64 {
	if p.ExitStatus == nil || p.Exit != "exit" {
		return 0
	}
	return max(0, float64(run.End-p.End))
}

// diskWaits gives imports and preparation the share of their samples in which the main thread waited for the disk.
func diskWaits(out []RunPart, p *model.Process, imports []times.Interval, first model.Time) {
	sm := &p.Samples
	var all, waits [2]int
	for i := 0; i < min(sm.Len(), len(sm.Thread), len(sm.Flags)) && sm.Time[i] < first; i++ {
		if int(sm.Thread[i]) != p.MainThread {
			continue
		}
		part := RunPreparation
		if times.Within(imports, sm.Time[i]) >= 0 {
			part = RunImports
		}
		all[part]++
		if sm.Flags[i]&model.SampleDiskWait != 0 {
			waits[part]++
		}
	}
	for part := range all {
		if all[part] > 0 {
			out[part].DiskWait = out[part].Time * float64(waits[part]) / float64(all[part])
		}
	}
}

// Importing is the time in which a process imports modules, sorted and disjoint.
func Importing(p *model.Process) []times.Interval {
	var out []times.Interval
	for _, list := range [][]model.Span{p.Imports, p.Spans} {
		for i := range list {
			if sp := &list[i]; sp.Kind == model.SpanImport && sp.End > sp.Start {
				out = append(out, times.Interval{Start: sp.Start, End: sp.End})
			}
		}
	}
	return times.Disjoint(out)
}
