package analyse

import (
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
)

// seeSnapshots takes note of when the events of memory snapshots begin and end.
func (c *Cutting) seeSnapshots(s *model.Session) {
	for _, m := range s.Snapshots {
		for i := range m.Devices {
			events := m.Devices[i].Events
			if n := len(events); n > 0 && events[0].Time != 0 {
				c.start, c.end = min(c.start, events[0].Time), max(c.end, events[n-1].Time)
			}
		}
	}
}

// cutSnapshots bounds what is told of memory snapshots by the window's times, and returns how many events are within. Their
// events stay: levels are sums over all of them.
func (c *Cutting) cutSnapshots(s *model.Session) (left int) {
	if !c.w.Timed() {
		return 0
	}
	for _, m := range s.Snapshots {
		m.From = c.start + model.Time(c.w.From)
		if c.w.To != 0 {
			m.To = c.start + model.Time(c.w.To)
		}
		for i := range m.Devices {
			for k := range m.Devices[i].Events {
				if e := &m.Devices[i].Events[k]; e.Time != 0 && allocations.InWindow(m, e) {
					left++
				}
			}
		}
	}
	return left
}
