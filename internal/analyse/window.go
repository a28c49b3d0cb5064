package analyse

import (
	"fmt"
	"math"
	"slices"

	"bottleneck/internal/model"
)

// Window is a part of a session that a report is made of. The zero value is all of it.
type Window struct {
	Steps    []int64   // numbers of steps; empty: all
	From, To model.Dur // since the session's start; To 0: the end
}

// Whole says that nothing is cut off.
func (w *Window) Whole() bool { return len(w.Steps) == 0 && w.From == 0 && w.To == 0 }

// Cut leaves in a session what belongs to a window: host events, steps, samples and spans that begin in it, and the device
// work that was launched in it (where no launch is known, that begins in it). It changes the session. The error says why
// nothing would be left.
func Cut(s *model.Session, w Window) error {
	if w.Whole() {
		return nil
	}
	start, end, known := sessionStart(s), sessionEnd(s), knownSteps(s)
	left := 0
	for _, t := range s.Traces {
		cutTrace(t, w.intervals(start, traceSteps(t)))
		left += t.Events.Len()
	}
	for _, p := range s.Processes {
		cutProcess(p, w.intervals(start, processSteps(p)))
		left += len(p.Steps) + p.Samples.Len()
	}
	if left > 0 {
		return nil
	}
	length := max(end.Sub(start), 0).Seconds()
	switch {
	case len(w.Steps) > 0 && known == "":
		return fmt.Errorf("the input has no steps")
	case len(w.Steps) > 0:
		return fmt.Errorf("nothing is left of step %d; the input has the steps %s in %.3f s", w.Steps[0], known, length)
	}
	return fmt.Errorf("nothing begins in that window; the input covers %.3f s", length)
}

// stepSpan is one step, of a trace or a process.
type stepSpan struct {
	number     int64
	start, end model.Time
}

func traceSteps(t *model.Trace) []stepSpan {
	out := make([]stepSpan, len(t.Steps))
	for i, st := range t.Steps {
		out[i] = stepSpan{st.Number, st.Start, st.End}
	}
	return out
}

func processSteps(p *model.Process) []stepSpan {
	out := make([]stepSpan, len(p.Steps))
	for i, st := range p.Steps {
		out[i] = stepSpan{st.Number, st.Start, st.End}
	}
	return out
}

// intervals is the window on the session's clock: the steps that were asked for, within the times that were asked for.
func (w *Window) intervals(start model.Time, steps []stepSpan) []Interval {
	bounds := Interval{start + model.Time(w.From), model.Time(math.MaxInt64)}
	if w.From == 0 {
		bounds.Start = math.MinInt64
	}
	if w.To > 0 {
		bounds.End = start + model.Time(w.To)
	}
	if len(w.Steps) == 0 {
		return []Interval{bounds}
	}
	var out []Interval
	for _, st := range steps {
		if slices.Contains(w.Steps, st.number) && st.start >= bounds.Start && st.start < bounds.End {
			out = append(out, Interval{st.start, st.end})
		}
	}
	return disjoint(out)
}

// cutTrace keeps the events of a trace that belong to the intervals, which are sorted.
func cutTrace(t *model.Trace, in []Interval) {
	ev := &t.Events
	n := ev.Len()
	to := make([]model.EventID, n) // by old number the new one
	kept := model.EventID(0)
	var last model.Time
	for i := range n {
		to[i] = model.NoEvent
		at := ev.Start[i]
		if link := ev.Link[i]; ev.Kind[i] != model.KindRuntime && link != model.NoEvent {
			at = ev.Start[link]
		}
		if within(in, at) >= 0 {
			to[i] = kept
			kept++
			last = max(last, ev.End(model.EventID(i)))
		}
	}
	cutLanes(t, to)
	renumber := func(id model.EventID) model.EventID {
		if id == model.NoEvent {
			return id
		}
		return to[id]
	}
	for i := range n {
		k := to[i]
		if k == model.NoEvent {
			continue
		}
		ev.Start[k], ev.Dur[k], ev.Name[k], ev.Kind[k], ev.Lane[k], ev.Detail[k] = ev.Start[i], ev.Dur[i], ev.Name[i], ev.Kind[i], ev.Lane[i], ev.Detail[i]
		ev.Parent[k], ev.Link[k], ev.Op[k] = renumber(ev.Parent[i]), renumber(ev.Link[i]), renumber(ev.Op[i])
	}
	ev.Start, ev.Dur, ev.Name, ev.Kind = ev.Start[:kept], ev.Dur[:kept], ev.Name[:kept], ev.Kind[:kept]
	ev.Lane, ev.Parent, ev.Link, ev.Op, ev.Detail = ev.Lane[:kept], ev.Parent[:kept], ev.Link[:kept], ev.Op[:kept], ev.Detail[:kept]
	cutMemory(&t.Memory, in)
	t.Counters = slices.DeleteFunc(t.Counters, func(c model.CounterEvent) bool { return within(in, c.Time) < 0 })
	t.Steps = slices.DeleteFunc(t.Steps, func(st model.TraceStep) bool { return within(in, st.Start) < 0 })
	if len(in) > 0 {
		t.From = max(t.From, in[0].Start)
		t.To = max(min(t.To, max(in[len(in)-1].End, last)), t.From)
	}
}

// cutLanes moves the bounds of the lanes; lanes without events stay.
func cutLanes(t *model.Trace, to []model.EventID) {
	next := model.EventID(0)
	for l := range t.Lanes {
		lane := &t.Lanes[l]
		first := next
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if to[id] != model.NoEvent {
				next++
			}
		}
		lane.FirstEvent, lane.EndEvent = first, next
	}
}

func cutMemory(m *model.MemoryEvents, in []Interval) {
	k := 0
	for i, at := range m.Time {
		if within(in, at) < 0 {
			continue
		}
		m.Time[k], m.Lane[k], m.Addr[k], m.Bytes[k] = m.Time[i], m.Lane[i], m.Addr[i], m.Bytes[i]
		m.Allocated[k], m.Reserved[k], m.DeviceType[k], m.DeviceIndex[k] = m.Allocated[i], m.Reserved[i], m.DeviceType[i], m.DeviceIndex[i]
		k++
	}
	m.Time, m.Lane, m.Addr, m.Bytes = m.Time[:k], m.Lane[:k], m.Addr[:k], m.Bytes[:k]
	m.Allocated, m.Reserved, m.DeviceType, m.DeviceIndex = m.Allocated[:k], m.Reserved[:k], m.DeviceType[:k], m.DeviceIndex[:k]
}

func cutProcess(p *model.Process, in []Interval) {
	p.Steps = slices.DeleteFunc(p.Steps, func(st model.Step) bool { return within(in, st.Start) < 0 })
	p.Spans = slices.DeleteFunc(p.Spans, func(sp model.Span) bool { return within(in, sp.Start) < 0 })
	p.Imports = slices.DeleteFunc(p.Imports, func(sp model.Span) bool { return within(in, sp.Start) < 0 })
	p.Queues = slices.DeleteFunc(p.Queues, func(q model.QueueLength) bool { return within(in, q.Time) < 0 })
	sm := &p.Samples
	k := 0
	for i, at := range sm.Time {
		if within(in, at) >= 0 {
			sm.Time[k], sm.Thread[k], sm.Stack[k], sm.State[k], sm.Flags[k] = at, sm.Thread[i], sm.Stack[i], sm.State[i], sm.Flags[i]
			k++
		}
	}
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = sm.Time[:k], sm.Thread[:k], sm.Stack[:k], sm.State[:k], sm.Flags[:k]
	if len(in) > 0 && p.Start != 0 {
		p.Start = max(p.Start, in[0].Start)
		if p.End != 0 {
			p.End = max(min(p.End, in[len(in)-1].End), p.Start)
		}
	}
}

func sessionStart(s *model.Session) model.Time {
	start := model.Time(math.MaxInt64)
	for _, t := range s.Traces {
		start = min(start, t.From)
	}
	for _, p := range s.Processes {
		if p.Start != 0 {
			start = min(start, p.Start)
		}
	}
	return start
}

func sessionEnd(s *model.Session) model.Time {
	end := sessionStart(s)
	for _, t := range s.Traces {
		end = max(end, t.To)
	}
	for _, p := range s.Processes {
		end = max(end, p.End)
		if n := p.Samples.Len(); n > 0 {
			end = max(end, p.Samples.Time[n-1])
		}
	}
	return end
}

// knownSteps says which steps a session has, "" for none.
func knownSteps(s *model.Session) string {
	var numbers []int64
	for _, t := range s.Traces {
		for _, st := range t.Steps {
			numbers = append(numbers, st.Number)
		}
	}
	for _, p := range s.Processes {
		for _, st := range p.Steps {
			numbers = append(numbers, st.Number)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	text := ""
	for i := 0; i < len(numbers) && len(text) < 60; {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprint(numbers[i])
		if k > i {
			text += fmt.Sprintf("-%d", numbers[k])
		}
		if i = k + 1; i < len(numbers) && len(text) >= 60 {
			text += ", …"
		}
	}
	return text
}
