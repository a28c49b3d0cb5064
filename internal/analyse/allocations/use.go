package allocations

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Use is the use of one device's memory as a trace's allocation events tell it. Bytes from before the trace are known only
// where the events carry totals; else levels are relative to the trace's beginning, and can be negative.
type Use struct {
	DeviceType   int8 // torch's DeviceType: 0 CPU, 1 CUDA, …
	DeviceIndex  int8
	Absolute     bool // levels come from totals in the events
	Peak         int64
	PeakAt       model.Time
	PeakReserved int64  // of the caching allocator; 0 unknown
	PeakOp       string // innermost operator that was open at the peak
	PeakPhase    string // "forward", "backward", "optimizer", "" unknown
	Allocations  int64
	Allocated    int64 // bytes over all allocations
	// Holders is what was alive at the peak, by the operator that allocated it, most first. What was there before the trace
	// is in no row: Peak − Σ Holders.
	Holders []Holder
	// AtPeak are the same as rows of the trace's memory events, in order.
	AtPeak []int32
	// Timeline is the level after each event, thinned to some thousand points that keep every local maximum that matters.
	Timeline []Point
	// Unfreed is what was allocated in the trace and not freed in it.
	Unfreed int64
}

// Holder is memory that one operator holds.
type Holder struct {
	Op     string
	Phase  string
	Bytes  int64
	Blocks int64
}

// Point is a level at a time.
type Point struct {
	Time     model.Time
	Bytes    int64
	Reserved int64
}

// hostMemory is torch's number of the host among devices.
const hostMemory = 0

// maxPoints is the number of points that a timeline keeps.
const maxPoints = 4096

// UseOf analyses the allocation events of a trace, one result per device, host memory first.
func UseOf(t *model.Trace, s *model.Strings) []Use {
	m := &t.Memory
	type device struct{ kind, index int8 }
	rows := map[device][]int32{}
	var order []device
	for i := range m.Time {
		d := device{m.DeviceType[i], m.DeviceIndex[i]}
		if rows[d] == nil {
			order = append(order, d)
		}
		rows[d] = append(rows[d], int32(i))
	}
	slices.SortFunc(order, func(a, b device) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index)) })
	out := make([]Use, 0, len(order))
	finder := &opFinder{t: t, s: s}
	for _, d := range order {
		u := Use{DeviceType: d.kind, DeviceIndex: d.index, Holders: []Holder{}}
		levels := u.levels(m, rows[d])
		u.holders(m, rows[d], levels, finder)
		u.Timeline = thin(m, rows[d], levels)
		out = append(out, u)
	}
	return out
}

// levels fills totals and the peak; it returns the level after each event.
func (u *Use) levels(m *model.MemoryEvents, rows []int32) []int64 {
	for _, i := range rows {
		u.Absolute = u.Absolute || m.Allocated[i] > 0 && u.DeviceType != hostMemory
	}
	levels := make([]int64, len(rows))
	level := int64(0)
	for n, i := range rows {
		level += m.Bytes[i]
		if u.Absolute {
			level = m.Allocated[i]
		}
		levels[n] = level
		if m.Bytes[i] > 0 {
			u.Allocations++
			u.Allocated += m.Bytes[i]
		}
		u.PeakReserved = max(u.PeakReserved, m.Reserved[i])
		if n == 0 || level > u.Peak {
			u.Peak, u.PeakAt = level, m.Time[i]
		}
	}
	return levels
}

// holders finds who had allocated what was alive at the peak, and what was never freed.
func (u *Use) holders(m *model.MemoryEvents, rows []int32, levels []int64, finder *opFinder) {
	alive := map[uint64]int32{}
	peak := map[uint64]int32{}
	for n, i := range rows {
		if m.Bytes[i] > 0 {
			alive[m.Addr[i]] = i
			u.Unfreed += m.Bytes[i]
		} else if from, ok := alive[m.Addr[i]]; ok {
			u.Unfreed -= m.Bytes[from]
			delete(alive, m.Addr[i])
		}
		if levels[n] == u.Peak && m.Time[i] == u.PeakAt && len(peak) == 0 {
			for addr, at := range alive {
				peak[addr] = at
			}
			u.PeakOp, u.PeakPhase = finder.at(m.Lane[i], m.Time[i])
		}
	}
	type holderKey struct{ op, phase string }
	sums := map[holderKey]*Holder{}
	u.AtPeak = slices.Sorted(maps.Values(peak))
	for _, i := range u.AtPeak {
		op, phase := finder.at(m.Lane[i], m.Time[i])
		key := holderKey{op, phase}
		if sums[key] == nil {
			sums[key] = &Holder{Op: op, Phase: phase}
		}
		sums[key].Bytes += m.Bytes[i]
		sums[key].Blocks++
	}
	for _, h := range sums {
		u.Holders = append(u.Holders, *h)
	}
	slices.SortFunc(u.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Op, b.Op), strings.Compare(a.Phase, b.Phase))
	})
}

// thin keeps the highest level of each of up to maxMemoryPoints stretches of equally many events, and the last.
func thin(m *model.MemoryEvents, rows []int32, levels []int64) []Point {
	stretch := max(1, (len(rows)+maxPoints-1)/maxPoints)
	out := make([]Point, 0, len(rows)/stretch+2)
	point := func(n int) Point { return Point{m.Time[rows[n]], levels[n], m.Reserved[rows[n]]} }
	for from := 0; from < len(rows); from += stretch {
		best := from
		for n := from; n < min(from+stretch, len(rows)); n++ {
			if levels[n] > levels[best] {
				best = n
			}
		}
		out = append(out, point(best))
	}
	if last := len(rows) - 1; last >= 0 && out[len(out)-1].Time != m.Time[rows[last]] {
		out = append(out, point(last))
	}
	return out
}

// opFinder finds the operator that is open on a thread at an instant, and the phase of training it belongs to.
type opFinder struct {
	t *model.Trace
	s *model.Strings
}

func (f *opFinder) at(lane model.LaneID, t model.Time) (op, phase string) {
	ev := &f.t.Events
	id := OpenAt(f.t, lane, t)
	for ; id != model.NoEvent; id = ev.Parent[id] {
		name := f.s.Text(ev.Name[id])
		if op == "" && ev.Kind[id] == model.KindOp {
			op = name
		}
		if p := phaseOf(name, ev.Kind[id]); p != "" {
			return op, p
		}
	}
	if op != "" {
		return op, "forward"
	}
	return op, ""
}

// OpenAt is the innermost event that is open on a thread at an instant; NoEvent where there is none.
func OpenAt(t *model.Trace, lane model.LaneID, at model.Time) model.EventID {
	if lane < 0 {
		return model.NoEvent
	}
	ev := &t.Events
	l := &t.Lanes[lane]
	n, _ := slices.BinarySearch(ev.Start[l.FirstEvent:l.EndEvent], at+1)
	if n == 0 {
		return model.NoEvent
	}
	id := l.FirstEvent + model.EventID(n) - 1
	for id != model.NoEvent && ev.End(id) < at {
		id = ev.Parent[id]
	}
	return id
}

// phaseOf is the phase of training that an enclosing event shows.
func phaseOf(name string, kind model.Kind) string {
	switch {
	case naming.IsBackward(name):
		return "backward"
	case kind != model.KindPython && naming.HasAnyPrefix(name, "Optimizer.step#", "Optimizer.zero_grad#"):
		return "optimizer"
	}
	return ""
}
