package allocations

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// SnapshotUse is what a memory snapshot tells of one device.
type SnapshotUse struct {
	Device int
	// Of the moment of the snapshot. Reserved = Active + Pending + Fragmented + Cached.
	Reserved   int64 // taken from the driver
	Active     int64 // in blocks that the program holds
	Pending    int64 // freed, but another stream may still use it
	Fragmented int64 // free blocks of segments that hold others: they cannot be given back to the driver
	Cached     int64 // segments that are wholly free: torch.cuda.empty_cache() gives them back
	Rounding   int64 // within Active: what blocks are larger than what was asked for, where the file tells
	LargestGap int64 // largest free block
	Private    int64 // reserved by memory pools of their own, as CUDA graphs have
	Kinds      []SegmentKind
	Live       []SnapshotHolder // who allocated what is active, most first

	// Of the recorded events, in bytes as the program asked for them (blocks are rounded up); all zero where none were recorded.
	Events       int64
	Allocations  int64
	From, To     model.Time
	Before       int64 // active when the recording began
	Peak         int64
	PeakAt       model.Time
	PeakReserved int64
	AtPeak       []SnapshotHolder
	Timeline     []Point
	OOMs         []SnapshotOOM
	OOMCount     int64
	// Unexplained is the difference between what the events add up to and what the snapshot holds: 0 in an intact file.
	Unexplained int64
}

// SegmentKind sums segments of one kind: "small", "large" or "expandable".
type SegmentKind struct {
	Kind                               string
	Segments                           int64
	Reserved, Active, Fragmented, Free int64 // Free: of wholly free segments
}

// SnapshotHolder is memory by who allocated it.
type SnapshotHolder struct {
	Where  code.Where // the innermost line of the user's code, else of any Python code
	Native string     // innermost operator of the stack, where frames of C++ were recorded
	Before bool       // allocated before the recording, by whom is not known
	Bytes  int64
	Blocks int64
}

// SnapshotOOM is a request that could not be met.
type SnapshotOOM struct {
	Time       model.Time
	Asked      int64
	DeviceFree int64 // as the driver said; 0 unknown
	Active     int64
	Reserved   int64
	Holders    []SnapshotHolder
	Where      SnapshotHolder // who asked
}

// maxOOMs bounds the requests whose holders are listed; programs that catch the error may meet thousands.
const maxOOMs = 4

// Snapshots analyses a memory snapshot, one result per device.
func Snapshots(m *model.MemorySnapshot, s *model.Strings) []SnapshotUse {
	places := &stackPlaces{m: m, s: s, known: map[model.StackID]SnapshotHolder{}}
	var out []SnapshotUse
	for i := range m.Devices {
		d := &m.Devices[i]
		u := SnapshotUse{Device: d.Index}
		u.segments(d, places)
		newSnapshotRun(d).into(&u, m, places)
		out = append(out, u)
	}
	return out
}

func segmentKind(g *model.MemorySegment) string {
	switch {
	case g.Expandable:
		return "expandable"
	case g.Large:
		return "large"
	}
	return "small"
}

// segments fills what holds for the moment of the snapshot.
func (u *SnapshotUse) segments(d *model.SnapshotDevice, places *stackPlaces) {
	kinds := map[string]*SegmentKind{}
	live := holderSums{places: places}
	for i := range d.Segments {
		g := &d.Segments[i]
		kind := segmentKind(g)
		if kinds[kind] == nil {
			kinds[kind] = &SegmentKind{Kind: kind}
		}
		k := kinds[kind]
		used := int64(0)
		for n := g.FirstBlock; n < g.EndBlock; n++ {
			b := &d.Blocks[n]
			switch b.State {
			case model.BlockActive:
				u.Active += b.Size
				live.add(b.Stack, b.Size, false)
				if b.Requested > 0 {
					u.Rounding += max(b.Size-b.Requested, 0)
				}
			case model.BlockPending:
				u.Pending += b.Size
			default:
				u.LargestGap = max(u.LargestGap, b.Size)
				continue
			}
			used += b.Size
			k.Active += b.Size
		}
		k.Segments++
		k.Reserved += g.Size
		u.Reserved += g.Size
		if g.Private {
			u.Private += g.Size
		}
		if used == 0 {
			k.Free += g.Size
			u.Cached += g.Size
		} else {
			k.Fragmented += g.Size - used
			u.Fragmented += g.Size - used
		}
	}
	for _, k := range kinds {
		u.Kinds = append(u.Kinds, *k)
	}
	slices.SortFunc(u.Kinds, func(a, b SegmentKind) int {
		return cmp.Or(cmp.Compare(b.Reserved, a.Reserved), cmp.Compare(a.Kind, b.Kind))
	})
	u.Live = live.rows()
}

// holderSums adds up memory by who holds it.
type holderSums struct {
	places *stackPlaces
	sums   map[SnapshotHolder]*SnapshotHolder
}

func (h *holderSums) add(stack model.StackID, bytes int64, before bool) {
	key := SnapshotHolder{Before: true}
	if !before {
		key = h.places.of(stack)
	}
	if h.sums == nil {
		h.sums = map[SnapshotHolder]*SnapshotHolder{}
	}
	sum := h.sums[key]
	if sum == nil {
		copied := key
		sum = &copied
		h.sums[key] = sum
	}
	sum.Bytes += bytes
	sum.Blocks++
}

func (h *holderSums) rows() []SnapshotHolder {
	out := []SnapshotHolder{}
	for _, sum := range h.sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b SnapshotHolder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Where.File, b.Where.File), cmp.Compare(a.Where.Line, b.Where.Line),
			cmp.Compare(a.Native, b.Native), cmp.Compare(a.Where.Function, b.Where.Function))
	})
	return out
}
