package facts

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/naming"
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
		var call TracedCall
		st.EachRow(c.B.Thread, func(ev *model.Events, id model.EventID) bool {
			runtime := ev.Kind[id] == model.KindRuntime
			if !runtime && ev.Kind[id] != model.KindOp {
				return true
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
				call.Copies += finding.Btoi(ev.Kind[work] == model.KindMemcpy && naming.CopyDirection(c.Text(ev.Name[work])) == "HtoD")
			}
			return true
		})
		if call.End > 0 {
			f(call)
		}
	}
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
	case c.P.TimedOnDevice():
		return 1
	}
	return 0
}
