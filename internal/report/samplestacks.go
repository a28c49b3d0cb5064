package report

import (
	"cmp"
	"maps"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// ThreadStack is a stack of one thread, and the time in nanoseconds that the samples of it stand for.
type ThreadStack struct {
	Thread int32
	Stack  model.StackID
	Ns     float64
}

// SampledStacks are the distinct stacks of a process's chosen samples, in order of thread and stack; native takes the stacks with
// native frames between those of Python. Threads of the agent's own are left out.
func SampledStacks(s *model.Session, p *model.Process, choice SampleChoice, native bool) []ThreadStack {
	sm := &p.Samples
	stacks := sm.Stack
	if native {
		stacks = sm.WithNative()
	}
	foreign := agentStacks(code.NewFrameClasses(s, p))
	counts := map[ThreadStack]int{}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if choice.takes(sm, i) && choice.process(p) && !foreign(sm.Stack[i]) {
			counts[ThreadStack{Thread: sm.Thread[i], Stack: stacks[i]}]++
		}
	}
	period := samplePeriod(s, sm)
	out := make([]ThreadStack, 0, len(counts))
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b ThreadStack) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Stack, b.Stack))
	}) {
		key.Ns = float64(counts[key]) * period
		out = append(out, key)
	}
	return out
}

// LineTime is the sampled time of one line, in nanoseconds: own with no other line of the program running deeper, total with all
// that it called.
type LineTime struct {
	Line       int
	Own, Total float64
}

// LineTimes are the sampled times of lines by file, as WriteSource prints them, in order.
func LineTimes(s *model.Session, choice SampleChoice) map[string][]LineTime {
	out := map[string][]LineTime{}
	for key, t := range SumSamples(s, choice).Lines {
		file := s.Strings.Text(key.File)
		out[file] = append(out[file], LineTime{int(key.Line), t.Own, t.Total})
	}
	for _, lines := range out {
		slices.SortFunc(lines, func(a, b LineTime) int { return cmp.Compare(a.Line, b.Line) })
	}
	return out
}
