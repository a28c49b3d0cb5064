package ingest

import (
	"slices"
	"strings"

	"bottleneck/internal/model"
)

const (
	forwardLonger  = 3.0 // a step that holds a stretch takes so many times the median step
	forwardSamples = 20  // of plain steps, from which the lines that call the model there are known
	forwardLeast   = 3   // stretches of the same kind: fewer are no kind of step
)

// apartForward cuts stretches in which the model is only called off the steps that hold them, each as a step of its own with the number of
// the step it stood in. Such a step is told from one that is merely long by its samples: lines call the model there that no plain step
// calls it from, and neither a backward pass nor an optimizer runs before they are over. Loops over DataLoaders are told apart by the
// agent. Steps of ranks stay whole, since they are matched by their numbers, and so do those of devices, whose work ends later than
// the lines that launch it.
func apartForward(p *model.Process, texts *model.Strings) {
	if len(p.Loaders) > 0 || p.Rank >= 0 || p.Samples.Foreign != "" {
		return
	}
	f := forwardFinder{p: p, median: plainMedian(p.Steps)}
	if f.median <= 0 {
		return
	}
	f.learn(texts)
	if cuts := f.cuts(); len(cuts) >= forwardLeast {
		p.Steps = cutSteps(p.Steps, cuts, texts.Intern(model.KindForward))
	}
}

// plainMedian is the median of unprofiled steps that the optimizer marks, all of one kind on one thread; 0 where they are not so.
func plainMedian(steps []model.Step) model.Dur {
	var all []model.Dur
	for i := range steps {
		st := &steps[i]
		if st.Source != model.StepOptimizer || st.Kind != steps[0].Kind || st.Thread != steps[0].Thread || st.DeviceDur > 0 {
			return 0
		}
		if st.Phase == model.PhaseBaseline {
			all = append(all, st.End.Sub(st.Start))
		}
	}
	if len(all) < 2*forwardLeast {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// forwardFinder finds the stretches in a process's steps.
type forwardFinder struct {
	p      *model.Process
	median model.Dur
	calls  []model.StackID // of each stack: the lines from which the model is called; NoStack where it is not
	update []bool          // of each stack: a backward pass or an optimizer runs in it
	plain  map[model.StackID]bool
	seen   int // samples in plain steps
}

func (f *forwardFinder) long(st *model.Step) bool {
	return float64(st.End.Sub(st.Start)) >= forwardLonger*float64(f.median)
}

// learn reads what each stack does and from where plain steps call the model.
func (f *forwardFinder) learn(texts *model.Strings) {
	stacks := &f.p.Samples.Stacks
	f.calls, f.update = make([]model.StackID, len(stacks.Frame)), make([]bool, len(stacks.Frame))
	for id, frame := range stacks.Frame { // callers stand before what they call
		f.calls[id] = model.NoStack
		file := texts.Text(stacks.Frames[frame].File)
		parent := stacks.Parent[id]
		f.update[id] = strings.Contains(file, "/torch/optim/") || strings.Contains(file, "/torch/autograd/") &&
			strings.Contains(texts.Text(stacks.Frames[frame].Function), "backward")
		if parent == model.NoStack {
			continue
		}
		f.update[id] = f.update[id] || f.update[parent]
		if f.calls[id] = f.calls[parent]; f.calls[id] == model.NoStack && strings.HasSuffix(file, model.ModuleFile) {
			f.calls[id] = parent
		}
	}
	f.plain = map[model.StackID]bool{}
	f.each(func(st *model.Step, i int) {
		if !f.long(st) {
			f.plain[f.calls[f.p.Samples.Stack[i]]] = true
			f.seen++
		}
	})
}

// each goes through the samples within steps, on the thread that drives them.
func (f *forwardFinder) each(do func(st *model.Step, sample int)) {
	k, sm := 0, &f.p.Samples
	for i, t := range sm.Time {
		for k < len(f.p.Steps) && f.p.Steps[k].End <= t {
			k++
		}
		if k == len(f.p.Steps) {
			return
		}
		if st := &f.p.Steps[k]; t >= st.Start && int(sm.Thread[i]) == st.Thread && sm.Stack[i] != model.NoStack {
			do(st, i)
		}
	}
}

// cuts gives the moment at which the stretch of a step ends, by the step's start. Short stretches may have no sample of the model: the
// lines that ran in the others tell them, too.
func (f *forwardFinder) cuts() map[model.Time]model.Time {
	if f.seen < forwardSamples {
		return nil
	}
	called := f.stretches(func(stack model.StackID) bool {
		call := f.calls[stack]
		return call != model.NoStack && !f.plain[call]
	})
	own := make([]bool, len(f.calls))
	f.each(func(st *model.Step, i int) {
		if end, ok := called[st.Start]; ok && f.p.Samples.Time[i] < end {
			f.mark(own, i, true)
		}
	})
	f.each(func(st *model.Step, i int) {
		if end, ok := called[st.Start]; !f.long(st) || ok && f.p.Samples.Time[i] >= end {
			f.mark(own, i, false)
		}
	})
	return f.stretches(func(stack model.StackID) bool {
		for ; stack != model.NoStack; stack = f.p.Samples.Stacks.Parent[stack] {
			if own[stack] {
				return true
			}
		}
		return false
	})
}

// mark sets a sample's stack and all its callers.
func (f *forwardFinder) mark(of []bool, sample int, as bool) {
	for id := f.p.Samples.Stack[sample]; id != model.NoStack; id = f.p.Samples.Stacks.Parent[id] {
		of[id] = as
	}
}

// stretches are the ends of those in which a stack of their own was seen.
func (f *forwardFinder) stretches(theirs func(model.StackID) bool) map[model.Time]model.Time {
	first := map[model.Time]model.Time{} // the first sample of an update
	last := map[model.Time]model.Time{}  // the last one that is the stretch's own
	f.each(func(st *model.Step, i int) {
		at, stack := f.p.Samples.Time[i], f.p.Samples.Stack[i]
		if !f.long(st) {
			return
		}
		if _, known := first[st.Start]; !known && f.update[stack] {
			first[st.Start] = at
		}
		if theirs(stack) {
			last[st.Start] = at
		}
	})
	out := map[model.Time]model.Time{}
	for i := range f.p.Steps {
		st := &f.p.Steps[i]
		seen, holds := last[st.Start]
		end := st.End - model.Time(f.median)
		if update, known := first[st.Start]; known {
			end = min(end, update)
		}
		// What is left must be an update as the plain ones: a long step of another training has its backward pass in the middle.
		left := float64(st.End.Sub(end))
		if holds && seen < end && left <= max(2*float64(f.median), float64(st.End.Sub(st.Start))/10) {
			out[st.Start] = end
		}
	}
	return out
}

// cutSteps are the steps with each stretch before the step that it was cut from.
func cutSteps(steps []model.Step, cuts map[model.Time]model.Time, kind model.Str) []model.Step {
	out := make([]model.Step, 0, len(steps)+len(cuts))
	for _, st := range steps {
		if end, ok := cuts[st.Start]; ok {
			stretch := st
			stretch.Kind, stretch.Source, stretch.End, stretch.Items, stretch.Skipped = kind, model.StepSamples, end, 0, 0
			out = append(out, stretch)
			st.Start = end
		}
		out = append(out, st)
	}
	return out
}
