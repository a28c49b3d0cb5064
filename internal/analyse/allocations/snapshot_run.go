package allocations

import (
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// replay goes over the events of one device. What was there before the first of them follows from what is there at
// the end: the level is exact even where the recording's buffer kept only the last events.
type replay struct {
	d      *model.SnapshotDevice
	before map[uint64]block // by address, what the recording began with
	alive  map[uint64]block
	level  int64
	held   int64 // reserved
}

// block is a block that is alive; event is the row that allocated it, -1 where that was before the recording.
type block struct {
	size  int64
	stack model.StackID
	event int32
}

func newSnapshotRun(d *model.SnapshotDevice) *replay {
	r := &replay{d: d, before: map[uint64]block{}}
	r.reset(nil)
	for i := range d.Events {
		e := &d.Events[i]
		_, known := r.alive[e.Addr]
		if e.Action == model.ActionFree && !known {
			r.before[e.Addr] = block{e.Size, model.NoStack, -1}
		}
		r.step(i)
	}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.State == model.BlockFree {
			continue
		}
		if _, known := r.alive[b.Addr]; !known {
			r.before[b.Addr] = block{asked(b), b.Stack, -1}
		}
	}
	return r
}

// asked is what the program asked for: events carry that too, not the rounded size of the block.
func asked(b *model.MemoryBlock) int64 {
	if b.Requested > 0 {
		return b.Requested
	}
	return b.Size
}

// reset goes back to the state before the first event.
func (r *replay) reset(before map[uint64]block) {
	r.alive, r.level, r.held = make(map[uint64]block, len(before)), 0, 0
	for addr, b := range before {
		r.alive[addr] = b
		r.level += b.size
	}
	for i := range r.d.Segments {
		r.held += r.d.Segments[i].Size
	}
	for i := range r.d.Events {
		r.held -= reservedBy(&r.d.Events[i])
	}
}

func reservedBy(e *model.AllocatorEvent) int64 {
	switch e.Action {
	case model.ActionSegmentAlloc, model.ActionSegmentMap:
		return e.Size
	case model.ActionSegmentFree, model.ActionSegmentUnmap:
		return -e.Size
	}
	return 0
}

// step takes one event.
func (r *replay) step(i int) {
	e := &r.d.Events[i]
	r.held += reservedBy(e)
	switch e.Action {
	case model.ActionAlloc:
		if old, lost := r.alive[e.Addr]; lost { // its end was not recorded
			r.level -= old.size
		}
		r.alive[e.Addr] = block{e.Size, e.Stack, int32(i)}
		r.level += e.Size
	case model.ActionFree:
		if old, known := r.alive[e.Addr]; known {
			r.level -= old.size
			delete(r.alive, e.Addr)
		}
	}
}

// InWindow says whether an event is of the time that the report is of; where the file has no times, every one is.
func InWindow(m *model.MemorySnapshot, e *model.AllocatorEvent) bool {
	return e.Time == 0 || (m.From == 0 || e.Time >= m.From) && (m.To == 0 || e.Time < m.To)
}

// into fills what the events tell.
func (r *replay) into(u *SnapshotUse, m *model.MemorySnapshot, places *stackPlaces) {
	if len(r.d.Events) == 0 {
		return
	}
	peakAt := r.levels(u, m)
	if u.Events == 0 {
		return
	}
	r.reset(r.before)
	if peakAt < 0 {
		u.AtPeak = r.holders(places)
	}
	for i := range r.d.Events {
		r.step(i)
		e := &r.d.Events[i]
		if i == peakAt {
			u.AtPeak = r.holders(places)
		}
		if e.Action == model.ActionOOM && InWindow(m, e) {
			if u.OOMCount++; len(u.OOMs) < maxOOMs {
				u.OOMs = append(u.OOMs, SnapshotOOM{Time: e.Time, Asked: e.Size, DeviceFree: int64(e.Addr), Active: r.level,
					Reserved: max(r.held, 0), Holders: r.holders(places), Where: places.of(e.Stack)})
			}
		}
	}
}

// levels finds the peak and the timeline; it returns the event of the peak, -1 where the recording begins with it.
func (r *replay) levels(u *SnapshotUse, m *model.MemorySnapshot) (peakAt int) {
	r.reset(r.before)
	peakAt = -1
	stretch := max(1, (len(r.d.Events)+maxPoints-1)/maxPoints)
	last := -1
	for i := range r.d.Events {
		e := &r.d.Events[i]
		in := InWindow(m, e)
		if in && u.Events == 0 {
			u.Before, u.Peak, u.From, u.PeakAt, u.PeakReserved, peakAt = r.level, r.level, e.Time, e.Time, max(r.held, 0), i-1
		}
		r.step(i)
		if !in {
			continue
		}
		u.Events++
		u.To = e.Time
		if e.Action == model.ActionAlloc {
			u.Allocations++
		}
		u.PeakReserved = max(u.PeakReserved, r.held)
		if r.level > u.Peak {
			u.Peak, u.PeakAt, peakAt = r.level, e.Time, i
		}
		if n := len(u.Timeline); last == i/stretch && u.Timeline[n-1].Bytes < r.level {
			u.Timeline[n-1] = Point{e.Time, r.level, max(r.held, 0)}
		} else if last != i/stretch {
			u.Timeline = append(u.Timeline, Point{e.Time, r.level, max(r.held, 0)})
			last = i / stretch
		}
	}
	u.Unexplained = r.level
	for i := range r.d.Blocks {
		if b := &r.d.Blocks[i]; b.State != model.BlockFree {
			u.Unexplained -= asked(b)
		}
	}
	return peakAt
}

func (r *replay) holders(places *stackPlaces) []SnapshotHolder {
	sums := holderSums{places: places}
	for _, b := range r.alive {
		sums.add(b.stack, b.size, b.event < 0 && b.stack == model.NoStack)
	}
	return sums.rows()
}

// stackPlaces finds who a stack stands for.
type stackPlaces struct {
	m     *model.MemorySnapshot
	s     *model.Strings
	known map[model.StackID]SnapshotHolder
}

func (p *stackPlaces) of(id model.StackID) SnapshotHolder {
	if id == model.NoStack {
		return SnapshotHolder{}
	}
	h, known := p.known[id]
	if !known {
		h = p.find(id)
		p.known[id] = h
	}
	return h
}

// maxStackWalk bounds the frames of a stack that are looked at.
const maxStackWalk = 1 << 12

func (p *stackPlaces) find(id model.StackID) (h SnapshotHolder) {
	python := false
	for n := 0; id != model.NoStack && n < maxStackWalk; n++ {
		f := &p.m.Stacks.Frames[p.m.Stacks.Frame[id]]
		id = p.m.Stacks.Parent[id]
		file, function := p.s.Text(f.File), p.s.Text(f.Function)
		if f.Line == 0 || !strings.HasSuffix(file, ".py") && !strings.HasPrefix(file, "<ipython") &&
			!strings.Contains(file, "/ipykernel_") {
			if h.Native == "" {
				h.Native = operatorInC(function)
			}
			continue
		}
		user := code.ClassifyFile(file) == code.FileUser
		if user || !python {
			h.Where = code.Where{File: file, Line: f.Line, Function: function}
			python = true
		}
		if user {
			return h
		}
	}
	return h
}

// operatorInC is the operator that a C++ function such as at::_ops::addmm::call(…) carries out, "" for others.
func operatorInC(function string) string {
	_, rest, ok := strings.Cut(function, "at::_ops::")
	if !ok {
		return ""
	}
	name, _, ok := strings.Cut(rest, "::")
	if !ok || strings.ContainsAny(name, "<( ") {
		return ""
	}
	return "aten::" + name
}
