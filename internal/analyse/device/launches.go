package device

import (
	"slices"

	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// LaunchStats is how work reached a device. Delay is the time from the end of the launching call to the start of the
// work, 0 where the work started earlier. Counts are of device rows whose launch is in the trace.
type LaunchStats struct {
	Count        int
	MedianDelay  model.Dur
	P90Delay     model.Dur
	Short        int // the work took less time than the call that launched it
	SlowCalls    int // the call took more than 50 µs
	LongDelays   int // the delay was more than 100 µs
	QueueEmpty   int // the device had nothing to do when the call began
	CallTime     model.Dur
	DeviceTime   model.Dur
	FromGraphs   int // started by a call that had started other work already, as a graph launch does
	WithoutCalls int // rows whose launching call is not in the trace
}

// Cut-offs of slow calls and long delays, HTA's.
const (
	slowCall  = 50 * 1000
	LongDelay = 100 * 1000
)

func (w *Timeline) launches() LaunchStats {
	ev := &w.Trace.Events
	var l LaunchStats
	delays := make([]model.Dur, 0, len(w.Rows))
	busyUntil := model.Time(0)
	for _, id := range w.Rows {
		call := ev.Link[id]
		if call == model.NoEvent {
			l.WithoutCalls++
			busyUntil = max(busyUntil, ev.End(id))
			continue
		}
		l.Count++
		delay := max(0, ev.Start[id].Sub(ev.End(call)))
		delays = append(delays, delay)
		if delay > LongDelay {
			l.LongDelays++
		}
		if ev.Dur[id] < ev.Dur[call] {
			l.Short++
		}
		if ev.Start[call] >= busyUntil {
			l.QueueEmpty++
		}
		busyUntil = max(busyUntil, ev.End(id))
		l.DeviceTime += ev.Dur[id]
		if ev.Link[call] != id {
			l.FromGraphs++
		} else {
			l.CallTime += ev.Dur[call]
			if ev.Dur[call] > slowCall {
				l.SlowCalls++
			}
		}
	}
	slices.Sort(delays)
	l.MedianDelay, l.P90Delay = stats.Quantile(delays, 0.5), stats.Quantile(delays, 0.9)
	return l
}
