package ingest

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// order moves the events into the final columns: by lane, and there by start, the longer first.
func (b *builder) order() {
	ev := &b.trace.Events
	n := b.events
	ev.Start, ev.Dur = make([]model.Time, n), make([]model.Dur, n)
	ev.Name, ev.Kind = make([]model.Str, n), make([]model.Kind, n)
	ev.Lane, ev.Detail = make([]model.LaneID, n), make([]int32, n)
	next := make([]int, len(b.lanes.list))
	row := 0
	for i := range b.lanes.list {
		b.lanes.list[i].from, next[i] = row, row
		row += b.lanes.list[i].events
	}
	for c, chunk := range b.chunks {
		for i := range chunk {
			raw := &chunk[i]
			at := next[raw.lane]
			next[raw.lane]++
			ev.Start[at], ev.Dur[at] = model.Time(raw.start), model.Dur(raw.dur)
			ev.Name[at], ev.Kind[at] = model.Str(raw.name), raw.kind
			ev.Lane[at], ev.Detail[at] = raw.lane, raw.detail
		}
		b.chunks[c] = nil
	}
	b.chunks = nil
	var sorter laneSorter
	for i := range b.lanes.list {
		lane := &b.lanes.list[i]
		sorter.sort(ev, lane.from, lane.from+lane.events)
	}
	b.dropDuplicates()
	b.orderMemory()
}

// laneSorter sorts one lane at a time and keeps its buffers for the next.
type laneSorter struct {
	keys  []sortKey
	spare []sortKey
	runs  []int // where ascending runs begin, and the end
	row   model.Events
}

type sortKey struct {
	start model.Time
	dur   model.Dur
	row   int32
}

func (k sortKey) compare(o sortKey) int {
	if c := cmp.Compare(k.start, o.start); c != 0 {
		return c
	}
	if c := cmp.Compare(o.dur, k.dur); c != 0 {
		return c
	}
	return cmp.Compare(k.row, o.row)
}

func (s *laneSorter) sort(ev *model.Events, from, to int) {
	if sorted(ev, from, to) {
		return
	}
	n := to - from
	s.keys = slices.Grow(s.keys[:0], n)[:n]
	for i := range s.keys {
		s.keys[i] = sortKey{ev.Start[from+i], ev.Dur[from+i], int32(i)}
	}
	s.sortKeys()
	s.row.Name = append(s.row.Name[:0], ev.Name[from:to]...)
	s.row.Kind = append(s.row.Kind[:0], ev.Kind[from:to]...)
	s.row.Detail = append(s.row.Detail[:0], ev.Detail[from:to]...)
	for i, k := range s.keys {
		at := from + i
		ev.Start[at], ev.Dur[at] = k.start, k.dur
		ev.Name[at], ev.Kind[at], ev.Detail[at] = s.row.Name[k.row], s.row.Kind[k.row], s.row.Detail[k.row]
	}
}

// sortKeys orders the keys. A lane is mostly a few ascending runs (operators, then Python calls, then runtime calls),
// which are merged; ties in start are settled afterwards.
func (s *laneSorter) sortKeys() {
	runs := s.runs[:0]
	for i := range s.keys {
		if i == 0 || s.keys[i].start < s.keys[i-1].start {
			runs = append(runs, i)
		}
	}
	s.runs = append(runs, len(s.keys))
	if len(runs) > len(s.keys)/8 {
		slices.SortFunc(s.keys, sortKey.compare)
		return
	}
	for len(s.runs) > 2 {
		s.mergeRuns()
	}
	for from := 0; from < len(s.keys); {
		to := from + 1
		for to < len(s.keys) && s.keys[to].start == s.keys[from].start {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(s.keys[from:to], sortKey.compare)
		}
		from = to
	}
}

// mergeRuns merges neighbouring runs two by two.
func (s *laneSorter) mergeRuns() {
	out := slices.Grow(s.spare[:0], len(s.keys))
	runs := s.runs[:0:0]
	for i := 0; i+1 < len(s.runs); i += 2 {
		runs = append(runs, s.runs[i])
		a := s.keys[s.runs[i]:s.runs[i+1]]
		var b []sortKey
		if i+2 < len(s.runs) {
			b = s.keys[s.runs[i+1]:s.runs[i+2]]
		}
		for len(a) > 0 && len(b) > 0 {
			if b[0].start < a[0].start {
				out = append(out, b[0])
				b = b[1:]
			} else {
				out = append(out, a[0])
				a = a[1:]
			}
		}
		out = append(append(out, a...), b...)
	}
	s.runs = append(runs, len(s.keys))
	s.keys, s.spare = out, s.keys
}

func sorted(ev *model.Events, from, to int) bool {
	for i := from + 1; i < to; i++ {
		if ev.Start[i] < ev.Start[i-1] || ev.Start[i] == ev.Start[i-1] && ev.Dur[i] > ev.Dur[i-1] {
			return false
		}
	}
	return true
}

// dropDuplicates removes rows that equal another one in everything, ids included.
func (b *builder) dropDuplicates() {
	ev := &b.trace.Events
	to := 0
	for l := range b.lanes.list {
		lane := &b.lanes.list[l]
		from, end := lane.from, lane.from+lane.events
		lane.from = to
		for i := from; i < end; i++ {
			if b.duplicate(lane.from, to, i) {
				b.skipped.add("duplicate", -1)
				continue
			}
			if to != i {
				ev.Start[to], ev.Dur[to], ev.Name[to] = ev.Start[i], ev.Dur[i], ev.Name[i]
				ev.Kind[to], ev.Lane[to], ev.Detail[to] = ev.Kind[i], ev.Lane[i], ev.Detail[i]
			}
			to++
		}
		lane.events = to - lane.from
	}
	if to < ev.Len() {
		ev.Start, ev.Dur, ev.Name = ev.Start[:to], ev.Dur[:to], ev.Name[:to]
		ev.Kind, ev.Lane, ev.Detail = ev.Kind[:to], ev.Lane[:to], ev.Detail[:to]
	}
	b.events = to
}

// duplicate compares row i with the rows kept just before it that have the same extent.
func (b *builder) duplicate(from, to, i int) bool {
	ev := &b.trace.Events
	for k := to - 1; k >= from && k >= to-8 && ev.Start[k] == ev.Start[i] && ev.Dur[k] == ev.Dur[i]; k-- {
		if ev.Name[k] == ev.Name[i] && ev.Kind[k] == ev.Kind[i] && b.sameDetail(ev.Kind[i], ev.Detail[k], ev.Detail[i]) {
			return true
		}
	}
	return false
}

// sameDetail says whether two rows carry the same identity. Rows without any id may well be two equal ones.
func (b *builder) sameDetail(kind model.Kind, x, y int32) bool {
	if x < 0 || y < 0 {
		return false
	}
	ev := &b.trace.Events
	switch kind {
	case model.KindOp, model.KindAnnotation:
		return ev.OpDetails[x].External != 0 && ev.OpDetails[x] == ev.OpDetails[y]
	case model.KindPython:
		return ev.PythonDetails[x] == ev.PythonDetails[y]
	case model.KindRuntime:
		return ev.RuntimeDetails[x].Correlation != 0 && ev.RuntimeDetails[x] == ev.RuntimeDetails[y]
	}
	return ev.DeviceDetails[x].Correlation != 0 && ev.DeviceDetails[x] == ev.DeviceDetails[y]
}

// orderMemory sorts the memory events by time.
func (b *builder) orderMemory() {
	m := &b.trace.Memory
	if slices.IsSorted(m.Time) {
		return
	}
	perm := make([]int32, len(m.Time))
	for i := range perm {
		perm[i] = int32(i)
	}
	slices.SortStableFunc(perm, func(x, y int32) int { return cmp.Compare(m.Time[x], m.Time[y]) })
	m.Time, m.Lane = permuted(m.Time, perm), permuted(m.Lane, perm)
	m.Addr, m.Bytes = permuted(m.Addr, perm), permuted(m.Bytes, perm)
	m.Allocated, m.Reserved = permuted(m.Allocated, perm), permuted(m.Reserved, perm)
	m.DeviceType, m.DeviceIndex = permuted(m.DeviceType, perm), permuted(m.DeviceIndex, perm)
}

func permuted[T any](column []T, perm []int32) []T {
	out := make([]T, len(column))
	for i, from := range perm {
		out[i] = column[from]
	}
	return out
}
