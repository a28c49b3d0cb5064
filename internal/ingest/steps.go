package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// findSteps finds a trace's steps: those that torch.profiler marked.
func findSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	return profilerSteps(t, texts)
}

// profilerSteps are ProfilerStep#N annotations. When several threads or processes carry them, those of the thread with
// the most are taken: steps of a trace do not overlap.
func profilerSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	byLane := map[model.LaneID][]model.TraceStep{}
	best := model.NoLane
	ev := &t.Events
	isStep := map[model.Str]int64{}
	for id := range ev.Kind {
		if ev.Kind[id] != model.KindAnnotation {
			continue
		}
		number, known := isStep[ev.Name[id]]
		if !known {
			number = stepNumber(texts.Text(ev.Name[id]))
			isStep[ev.Name[id]] = number
		}
		if number < 0 {
			continue
		}
		lane := ev.Lane[id]
		byLane[lane] = append(byLane[lane], model.TraceStep{Number: number, Start: ev.Start[id], End: ev.End(model.EventID(id)), Source: model.StepProfiler})
		if best == model.NoLane || len(byLane[lane]) > len(byLane[best]) {
			best = lane
		}
	}
	return ordered(byLane[best])
}

func stepNumber(name string) int64 {
	text, ok := strings.CutPrefix(name, "ProfilerStep#")
	if !ok {
		return -1
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v
	}
	return -1
}

// ordered sorts steps and cuts overlaps, so that each moment belongs to one step at most.
func ordered(steps []model.TraceStep) []model.TraceStep {
	slices.SortStableFunc(steps, func(a, b model.TraceStep) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(steps); i++ {
		if steps[i-1].End > steps[i].Start {
			steps[i-1].End = steps[i].Start
		}
	}
	return slices.DeleteFunc(steps, func(s model.TraceStep) bool { return s.End <= s.Start })
}
