package analyse

import (
	"fmt"
	"math"
	"slices"

	"bottleneck/internal/analyse/times"
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
	c := NewCutting(w)
	for _, t := range s.Traces {
		c.See(t)
	}
	c.seeSnapshots(s)
	c.seeProcesses(s)
	for _, t := range s.Traces {
		c.Trace(t)()
	}
	return c.Rest(s)
}

// Cutting is Cut for a session whose traces are not in memory together.
type Cutting struct {
	w          Window
	start, end model.Time // of the session, as far as it has been seen
	steps      []int64
	left       int
}

// NewCutting begins to cut a session.
func NewCutting(w Window) *Cutting { return &Cutting{w: w, start: math.MaxInt64, end: math.MinInt64} }

// Timed says whether the window is bounded by times, which count from the start of the earliest trace: all traces must then
// have been seen before the first is cut.
func (w *Window) Timed() bool { return w.From != 0 || w.To != 0 }

// See takes note of when a trace begins and ends.
func (c *Cutting) See(t *model.Trace) { c.start, c.end = min(c.start, t.From), max(c.end, t.To) }

// Trace cuts one trace; it may be called from several goroutines. What it returns must be called by one at a time.
func (c *Cutting) Trace(t *model.Trace) (fold func()) {
	from, to, steps := t.From, t.To, traceSteps(t)
	start := model.Time(0) // does not matter without times
	if c.w.Timed() {
		start = c.start
	}
	cutTrace(t, c.w.intervals(start, steps))
	left := t.Events.Len()
	return func() {
		if !c.w.Timed() {
			c.start, c.end = min(c.start, from), max(c.end, to)
		}
		c.know(steps)
		c.left += left
	}
}

// know takes note of the numbers of steps, once each.
func (c *Cutting) know(steps []stepSpan) {
	for _, st := range steps {
		if at, known := slices.BinarySearch(c.steps, st.number); !known {
			c.steps = slices.Insert(c.steps, at, st.number)
		}
	}
}

// Rest cuts what a session has besides traces. The error says why nothing would be left of all.
func (c *Cutting) Rest(s *model.Session) error {
	c.seeProcesses(s)
	c.left += c.cutSnapshots(s)
	for _, p := range s.Processes {
		c.know(processSteps(p))
		cutProcess(p, c.w.intervals(c.start, processSteps(p)))
		c.left += len(p.Steps) + p.Samples.Len()
	}
	if c.left > 0 {
		return nil
	}
	length := max(c.end-c.start, 0).Sub(0).Seconds()
	switch {
	case len(c.w.Steps) > 0 && len(c.steps) == 0:
		return fmt.Errorf("the input has no steps")
	case len(c.w.Steps) > 0:
		return fmt.Errorf("nothing is left of step %d; the input has the steps %s in %.3f s", c.w.Steps[0], ranges(c.steps), length)
	}
	return fmt.Errorf("nothing begins in that window; the input covers %.3f s", length)
}

// seeProcesses takes note of when processes begin and end.
func (c *Cutting) seeProcesses(s *model.Session) {
	for _, p := range s.Processes {
		if p.Start != 0 {
			c.start = min(c.start, p.Start)
		}
		c.end = max(c.end, p.End)
		if n := p.Samples.Len(); n > 0 {
			c.end = max(c.end, p.Samples.Time[n-1])
		}
	}
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
func (w *Window) intervals(start model.Time, steps []stepSpan) []times.Interval {
	bounds := times.Interval{Start: start + model.Time(w.From), End: model.Time(math.MaxInt64)}
	if w.From == 0 {
		bounds.Start = math.MinInt64
	}
	if w.To > 0 {
		bounds.End = start + model.Time(w.To)
	}
	if len(w.Steps) == 0 {
		return []times.Interval{bounds}
	}
	var out []times.Interval
	for _, st := range steps {
		if slices.Contains(w.Steps, st.number) && st.start >= bounds.Start && st.start < bounds.End {
			out = append(out, times.Interval{Start: st.start, End: st.end})
		}
	}
	return times.Disjoint(out)
}

// cutTrace keeps the events of a trace that belong to the intervals, which are sorted.
func cutTrace(t *model.Trace, in []times.Interval) {
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
		if times.Within(in, at) >= 0 {
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
		ev.Start[k], ev.Dur[k], ev.Name[k], ev.Kind[k], ev.Lane[k], ev.Detail[k] = ev.Start[i], ev.Dur[i], ev.Name[i], ev.Kind[i],
			ev.Lane[i], ev.Detail[i]
		ev.Parent[k], ev.Link[k], ev.Op[k] = renumber(ev.Parent[i]), renumber(ev.Link[i]), renumber(ev.Op[i])
	}
	ev.Start, ev.Dur, ev.Name, ev.Kind = ev.Start[:kept], ev.Dur[:kept], ev.Name[:kept], ev.Kind[:kept]
	ev.Lane, ev.Parent, ev.Link, ev.Op, ev.Detail = ev.Lane[:kept], ev.Parent[:kept], ev.Link[:kept], ev.Op[:kept], ev.Detail[:kept]
	cutMemory(&t.Memory, in)
	t.Counters = slices.DeleteFunc(t.Counters, func(c model.CounterEvent) bool { return times.Within(in, c.Time) < 0 })
	t.Ranges = slices.DeleteFunc(t.Ranges, func(c model.RangeCounter) bool { return times.Within(in, c.Start) < 0 })
	t.Steps = slices.DeleteFunc(t.Steps, func(st model.TraceStep) bool { return times.Within(in, st.Start) < 0 })
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

func cutMemory(m *model.MemoryEvents, in []times.Interval) {
	k := 0
	for i, at := range m.Time {
		if times.Within(in, at) < 0 {
			continue
		}
		m.Time[k], m.Lane[k], m.Addr[k], m.Bytes[k] = m.Time[i], m.Lane[i], m.Addr[i], m.Bytes[i]
		m.Allocated[k], m.Reserved[k], m.DeviceType[k], m.DeviceIndex[k] = m.Allocated[i], m.Reserved[i], m.DeviceType[i], m.DeviceIndex[i]
		k++
	}
	m.Time, m.Lane, m.Addr, m.Bytes = m.Time[:k], m.Lane[:k], m.Addr[:k], m.Bytes[:k]
	m.Allocated, m.Reserved, m.DeviceType, m.DeviceIndex = m.Allocated[:k], m.Reserved[:k], m.DeviceType[:k], m.DeviceIndex[:k]
}

func cutProcess(p *model.Process, in []times.Interval) {
	p.Steps = slices.DeleteFunc(p.Steps, func(st model.Step) bool { return times.Within(in, st.Start) < 0 })
	p.Spans = slices.DeleteFunc(p.Spans, func(sp model.Span) bool { return times.Within(in, sp.Start) < 0 })
	p.Imports = slices.DeleteFunc(p.Imports, func(sp model.Span) bool { return times.Within(in, sp.Start) < 0 })
	p.Queues = slices.DeleteFunc(p.Queues, func(q model.QueueLength) bool { return times.Within(in, q.Time) < 0 })
	sm := &p.Samples
	k := 0
	for i, at := range sm.Time {
		if times.Within(in, at) >= 0 {
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

// ranges writes sorted numbers as "3, 5-7", the first sixty letters of it.
func ranges(numbers []int64) string {
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
