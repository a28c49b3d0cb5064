package account

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// StepPartKind is a category of the TensorBoard plugin's step-time breakdown, in its order of precedence.
type StepPartKind uint8

// Categories: an instant belongs to the first that applies.
const (
	StepKernel StepPartKind = iota
	StepMemcpy
	StepMemset
	StepCommunication
	StepRuntime
	StepDataLoader
	StepCPUOp
	StepOther
	NumStepParts
)

var stepPartNames = [NumStepParts]string{"kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu op", "other"}

func (k StepPartKind) String() string { return stepPartNames[min(k, NumStepParts-1)] }

// StepParts is one step cut into exclusive parts, which sum to End − Start.
type StepParts struct {
	Number     int64 // -1 for the whole of a trace without steps
	Start, End model.Time
	Parts      [NumStepParts]model.Dur
	// HiddenCommunication is the part of StepCommunication during which operators run as well, on any thread.
	HiddenCommunication model.Dur
	// Utilisation is the share of the step during which a kernel runs.
	Utilisation float64
}

// StepPartsOf cuts each step of a trace, or the whole trace if it has no steps. A step ends when the last device work
// launched in it has ended, and begins no earlier than its predecessor ended.
func StepPartsOf(t *model.Trace, s *model.Strings) []StepParts {
	steps := deviceSteps(t)
	sets := stepSets(t, s)
	out := make([]StepParts, 0, len(steps))
	for _, step := range steps {
		p := StepParts{Number: step.Number, Start: step.Start, End: step.End}
		left := stats.Set{{From: int64(step.Start), To: int64(step.End)}}
		if left[0].Len() == 0 {
			continue
		}
		for kind := range StepOther {
			taken := sets[kind].And(left)
			p.Parts[kind] = model.Dur(taken.Len())
			if kind == StepCommunication && len(taken) > 0 {
				p.HiddenCommunication = model.Dur(taken.And(sets[StepCPUOp]).Len())
			}
			left = left.Minus(taken)
		}
		p.Parts[StepOther] = model.Dur(left.Len())
		p.Utilisation = float64(p.Parts[StepKernel]) / float64(step.End-step.Start)
		out = append(out, p)
	}
	return out
}

// wholeTrace is the number of the one step that a trace without steps is taken for.
const wholeTrace = -1

// deviceSteps are the host's steps, each prolonged to the end of the device work launched in it.
func deviceSteps(t *model.Trace) []model.TraceStep {
	if len(t.Steps) == 0 {
		return []model.TraceStep{{Number: wholeTrace, Start: t.From, End: t.To, Source: model.StepNone}}
	}
	steps := make([]model.TraceStep, len(t.Steps))
	copy(steps, t.Steps)
	ends := make([]model.Time, len(steps))
	ev := &t.Events
	for i := range ev.Len() {
		launch := ev.Link[i]
		if !ev.Kind[i].Device() || launch == model.NoEvent {
			continue
		}
		if at := stepAt(t.Steps, ev.Start[launch]); at >= 0 {
			ends[at] = max(ends[at], ev.End(model.EventID(i)))
		}
	}
	for i := range steps {
		steps[i].End = max(steps[i].End, ends[i])
		if i > 0 {
			steps[i].Start = max(steps[i].Start, steps[i-1].End)
			steps[i].End = max(steps[i].End, steps[i].Start)
		}
	}
	return steps
}

// stepAt is the step (sorted by start) that contains an instant; -1.
func stepAt(steps []model.TraceStep, t model.Time) int {
	low, high := 0, len(steps)
	for low < high {
		if mid := (low + high) / 2; steps[mid].End <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(steps) && steps[low].Start <= t {
		return low
	}
	return -1
}

// stepSets are the times of each category, on all lanes together.
func stepSets(t *model.Trace, s *model.Strings) [StepOther]stats.Set {
	ev := &t.Events
	kinds := naming.NewKernelClasses(s)
	var lists [StepOther][]stats.Interval
	for i := range ev.Len() {
		id := model.EventID(i)
		kind := StepOther
		switch ev.Kind[i] {
		case model.KindKernel:
			kind = StepKernel
			if kinds.Of(ev, id) == naming.ClassCommunication {
				kind = StepCommunication
			}
		case model.KindMemcpy:
			kind = StepMemcpy
		case model.KindMemset:
			kind = StepMemset
		case model.KindRuntime:
			kind = StepRuntime
		case model.KindOp, model.KindAnnotation:
			if ev.Parent[i] == model.NoEvent || ev.Kind[ev.Parent[i]] != model.KindOp {
				kind = stepHostKind(s.Text(ev.Name[i]), ev.Kind[i])
			}
		}
		if kind < StepOther {
			lists[kind] = append(lists[kind], times.OfEvent(ev, id))
		}
	}
	var out [StepOther]stats.Set
	for kind := range lists {
		out[kind] = stats.Union(lists[kind])
	}
	return out
}

// stepHostKind sorts a top-level operator or an annotation.
func stepHostKind(name string, kind model.Kind) StepPartKind {
	switch {
	case naming.IsDataLoader(name):
		return StepDataLoader
	case naming.HasAnyPrefix(name, "nccl:", "gloo:", "xccl:", "ucc:", "mpi:"):
		return StepCommunication
	case kind == model.KindOp:
		return StepCPUOp
	}
	return StepOther
}
