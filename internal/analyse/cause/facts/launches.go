package facts

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// TracedCall is what the driving thread calls in a traced step: an operator that no other one encloses, or a call of the device's runtime
// outside of all operators.
type TracedCall struct {
	times.Interval
	Asks   bool // it calls the device's runtime
	Works  int  // pieces of a device's work that it launches
	Copies int  // those of them that copy from the host to the device
}

// EachTracedCall hands out the driving thread's calls in its traced steps, in the order of each step.
func (c *Facts) EachTracedCall(f func(TracedCall)) {
	for _, st := range account.TracedSteps(c.S, c.B) {
		ev := &st.Trace.Events
		first, end := laneRows(st.Trace, c.B.Thread)
		skip, _ := slices.BinarySearchFunc(ev.Start[first:end], st.Start, func(x, y model.Time) int { return cmp.Compare(x, y) })
		var call TracedCall
		for i := first + skip; i < end && ev.Start[i] < st.End; i++ {
			id := model.EventID(i)
			runtime := ev.Kind[id] == model.KindRuntime
			if !runtime && ev.Kind[id] != model.KindOp {
				continue
			}
			if ev.Start[id] >= call.End {
				if call.End > 0 {
					f(call)
				}
				call = TracedCall{Interval: times.Interval{Start: ev.Start[id], End: ev.End(id)}}
			}
			call.Asks = call.Asks || runtime
			if work := ev.Link[id]; runtime && work != model.NoEvent && ev.Kind[work].Device() {
				call.Works++
				call.Copies += finding.Btoi(ev.Kind[work] == model.KindMemcpy && toDevice(c.Text(ev.Name[work])))
			}
		}
		if call.End > 0 {
			f(call)
		}
	}
}

// laneRows are the rows of a native thread's lane, none where the trace has no such thread.
func laneRows(t *model.Trace, thread int) (first, end int) {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Kind == model.LaneThread && l.Thread == int64(thread) && l.FirstEvent >= 0 && l.FirstEvent <= l.EndEvent &&
			int(l.EndEvent) <= t.Events.Len() {
			return int(l.FirstEvent), int(l.EndEvent)
		}
	}
	return 0, 0
}

// toDevice says that a copy's name is that of one from the host to the device.
func toDevice(name string) bool {
	return strings.Contains(name, "HtoD") || strings.HasPrefix(name, "CopyHostToDevice")
}

// findLaunching is the share of the driving thread's time in operators and calls of the device's runtime that goes into those which launch
// work of a device or wait for it: the arithmetic is the device's, and threads of the CPU have no part in it. What lies in waits for data
// is the fetch's. 0 where no device is used; 1 where one is, as the steps' own events say, and no trace shows any call of its runtime.
func (c *Facts) findLaunching() float64 {
	var waits []times.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanDataWait && sp.Thread == c.B.Thread && sp.End > sp.Start {
			waits = append(waits, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	waits = Merged(waits)
	all, launching := 0.0, 0.0
	c.EachTracedCall(func(call TracedCall) {
		if Inside(waits, call.Start) {
			return
		}
		all += call.Dur()
		if call.Asks {
			launching += call.Dur()
		}
	})
	switch {
	case launching > 0:
		return launching / all
	case c.UsesDevice():
		return 1
	}
	return 0
}

// UsesDevice says that steps of the accounted process made events of a device.
func (c *Facts) UsesDevice() bool {
	return slices.ContainsFunc(c.P.Steps, func(st model.Step) bool { return st.DeviceDur > 0 })
}
