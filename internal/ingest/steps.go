package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// minSteps is how often something must come round to be taken for a step.
const minSteps = 3

// findSteps finds a trace's steps by the first means that gives some: torch.profiler's marks, the program's own, its
// optimizer, its DataLoader, and the period of what is launched.
func findSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	if steps := profilerSteps(t, texts); len(steps) > 0 {
		return setApart(steps)
	}
	for _, find := range []func(*model.Trace, *model.Strings) []model.TraceStep{markedSteps, optimizerSteps, loaderSteps, periodSteps} {
		if steps := find(t, texts); len(steps) >= minSteps {
			return setApart(steps)
		}
	}
	return nil
}

// setApart marks steps that do not stand for the others: twice as long as the median or half as long, as warm-up,
// validation and steps that the recording cut are.
func setApart(steps []model.TraceStep) []model.TraceStep {
	if len(steps) < minSteps {
		return steps
	}
	durs := make([]model.Time, len(steps))
	for i, s := range steps {
		durs[i] = s.End - s.Start
	}
	slices.Sort(durs)
	median := durs[len(durs)/2]
	for i := range steps {
		d := steps[i].End - steps[i].Start
		steps[i].Warmup = d > 2*median || 2*d < median
	}
	return steps
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
		byLane[lane] = append(byLane[lane], model.TraceStep{Number: number, Start: ev.Start[id], End: ev.End(model.EventID(id)),
			Source: model.StepProfiler})
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
