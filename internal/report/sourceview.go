package report

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// SampleChoice says which samples of a session count.
type SampleChoice struct {
	GIL   bool  // only those of threads that held the GIL, or, where there is none, ran Python
	Idle  bool  // those of threads that wait for work too
	Ranks []int // of these ranks only; empty = of every process
}

// takes says whether sample i counts.
func (c SampleChoice) takes(sm *model.Samples, i int) bool {
	if c.GIL && sm.Flags[i]&model.SampleRunsPython == 0 {
		return false
	}
	return c.Idle || sm.State[i] != model.StateIdle
}

// process says whether a process's samples count.
func (c SampleChoice) process(p *model.Process) bool {
	return len(c.Ranks) == 0 || slices.Contains(c.Ranks, p.Rank)
}

// OwnTotal is time in nanoseconds: own with no other counted line (or function) running deeper, total with all that it called.
type OwnTotal struct{ Own, Total float64 }

// SampleSums are the chosen samples of a session as thread time, summed by line and by function. In recursion a line or
// function counts once per sample.
type SampleSums struct {
	Lines     map[lineKey]OwnTotal
	Functions map[FuncKey]OwnTotal
	Files     map[model.Str]float64 // total time by file
	All       float64               // ns
	Samples   int
	Attached  int // of them of threads that ran Python without a GIL
	Processes int
	Threads   int
}

// SumSamples adds up the chosen samples of every process and thread. A user's line owns the library code that it called,
// as in the report; a library's line and every function own only what ran in them.
func SumSamples(s *model.Session, choice SampleChoice) *SampleSums {
	out := &SampleSums{Lines: map[lineKey]OwnTotal{}, Functions: map[FuncKey]OwnTotal{}, Files: map[model.Str]float64{}}
	for _, p := range s.Processes {
		if choice.process(p) {
			out.process(s, p, choice)
		}
	}
	return out
}

// process adds one process: equal stacks first, so that a long recording costs one walk per stack.
func (o *SampleSums) process(s *model.Session, p *model.Process, choice SampleChoice) {
	sm := &p.Samples
	counts, threads := map[model.StackID]int{}, map[int32]bool{}
	classes := code.NewFrameClasses(s, p)
	foreign := agentStacks(classes)
	n := 0
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if choice.takes(sm, i) && !foreign(sm.Stack[i]) {
			counts[sm.Stack[i]]++
			threads[sm.Thread[i]] = true
			if n++; sm.Flags[i]&model.SampleAttached != 0 {
				o.Attached++
			}
		}
	}
	if n == 0 {
		return
	}
	o.Processes++
	o.Threads += len(threads)
	o.Samples += n
	period := samplePeriod(s, sm)
	o.All += float64(n) * period
	for stack, n := range counts {
		o.stack(classes, stack, float64(n)*period)
	}
}

// agentStacks tells stacks of the agent's own threads, which hold no frame of the program.
func agentStacks(classes *code.FrameClasses) func(model.StackID) bool {
	known := map[model.StackID]bool{}
	return func(id model.StackID) bool {
		agent, ok := known[id]
		if !ok {
			classes.Walk(id, func(frame model.FrameID) bool {
				agent = classes.File(classes.Stacks.Frames[frame].File) == code.FileAgent
				return agent
			})
			known[id] = agent
		}
		return agent
	}
}

func (o *SampleSums) stack(classes *code.FrameClasses, stack model.StackID, ns float64) {
	lines, functions, files := map[lineKey]bool{}, map[FuncKey]bool{}, map[model.Str]bool{}
	innermost, innermostUser := true, true
	classes.Walk(stack, func(id model.FrameID) bool {
		f := classes.Stacks.Frames[id]
		if classes.File(f.File) == code.FileAgent {
			return true
		}
		user := classes.File(f.File) == code.FileUser
		add := func(sum OwnTotal, seen, owns bool) OwnTotal {
			if owns {
				sum.Own += ns
			}
			if !seen {
				sum.Total += ns
			}
			return sum
		}
		line, function := lineKey{f.File, f.Line}, FuncKey{f.File, f.Function, f.First}
		o.Lines[line] = add(o.Lines[line], lines[line], innermost && !user || innermostUser && user)
		o.Functions[function] = add(o.Functions[function], functions[function], innermost)
		if !files[f.File] {
			o.Files[f.File] += ns
		}
		lines[line], functions[function], files[f.File] = true, true, true
		innermost, innermostUser = false, innermostUser && !user
		return true
	})
}

// samplePeriod is the time in nanoseconds that one sample of a process stands for. One sampler watches all processes, so
// the rate may stand with another one.
func samplePeriod(s *model.Session, sm *model.Samples) float64 {
	rate := cmp.Or(sm.AchievedHz, sm.AskedHz)
	for _, p := range s.Processes {
		if rate > 0 {
			break
		}
		rate = cmp.Or(p.Samples.AchievedHz, p.Samples.AskedHz)
	}
	if !(rate > 0 && rate < 1e9) {
		rate = 100
	}
	return 1e9 / rate
}
