package ingest

import (
	"cmp"
	"runtime/debug"
	"slices"

	"bottleneck/internal/model"
)

// order moves the events into the final columns: by lane, and there by start, the longer first.
func (b *builder) order() {
	ev := &b.trace.Events
	n := b.events.n
	ev.Start, ev.Dur = make([]model.Time, n), make([]model.Dur, n)
	ev.Name, ev.Kind = make([]model.Str, n), make([]model.Kind, n)
	ev.Lane, ev.Detail = make([]model.LaneID, n), make([]int32, n)
	next := make([]int, len(b.lanes.list))
	for _, chunk := range b.events.chunks() {
		for i := range chunk {
			b.lanes.list[chunk[i].lane].events++
		}
	}
	row := 0
	for i := range b.lanes.list {
		b.lanes.list[i].from, next[i] = row, row
		row += b.lanes.list[i].events
	}
	b.events.drain(func(chunk []rawEvent) {
		for i := range chunk {
			raw := &chunk[i]
			at := next[raw.lane]
			next[raw.lane]++
			ev.Start[at], ev.Dur[at] = model.Time(raw.start), model.Dur(raw.dur)
			ev.Name[at], ev.Kind[at] = model.Str(raw.name), raw.kind
			ev.Lane[at], ev.Detail[at] = raw.lane, raw.detail
		}
	})
	var sorter laneSorter
	for i := range b.lanes.list {
		lane := &b.lanes.list[i]
		sorter.sort(ev, lane.from, lane.from+lane.events)
	}
	if n > freeChunks*chunkRows {
		sorter = laneSorter{}
		debug.FreeOSMemory()
	}
	b.dropDuplicates()
	b.orderMemory()
}

// laneSorter sorts one lane at a time and keeps its buffers for the next. It holds one permutation and one column at
// most, since a lane can be most of a trace.
type laneSorter struct {
	ev          *model.Events
	from        int
	perm, spare []int32 // rows of the lane in order
	runs        []int   // where ascending runs of perm begin, and its end
	long        []int64 // a column on its way
	short       []int32
}

func (s *laneSorter) start(row int32) model.Time { return s.ev.Start[s.from+int(row)] }

func (s *laneSorter) sort(ev *model.Events, from, to int) {
	if sorted(ev, from, to) {
		return
	}
	s.ev, s.from = ev, from
	n := to - from
	s.perm = slices.Grow(s.perm[:0], n)[:n]
	for i := range s.perm {
		s.perm[i] = int32(i)
	}
	s.order()
	s.long = permute(s.long, ev.Start[from:to], s.perm)
	s.long = permute(s.long, ev.Dur[from:to], s.perm)
	s.short = permute(s.short, ev.Name[from:to], s.perm)
	s.short = permute(s.short, ev.Detail[from:to], s.perm)
	s.short = permute(s.short, ev.Kind[from:to], s.perm)
}

// permute puts a column's rows in the order of perm by way of buf, which it returns for the next column.
func permute[B int32 | int64, T ~int64 | ~int32 | ~uint32 | ~uint8](buf []B, column []T, perm []int32) []B {
	buf = slices.Grow(buf[:0], len(column))[:len(column)]
	for i, v := range column {
		buf[i] = B(v)
	}
	for i, row := range perm {
		column[i] = T(buf[row])
	}
	return buf
}

// order finds the permutation. A lane is mostly a few ascending runs (operators, then Python calls, then runtime
// calls), which are merged; ties in start are settled afterwards, the longer first.
func (s *laneSorter) order() {
	s.runs = s.runs[:0]
	for i := range s.perm {
		if i == 0 || s.start(int32(i)) < s.start(int32(i-1)) {
			s.runs = append(s.runs, i)
		}
	}
	s.runs = append(s.runs, len(s.perm))
	for len(s.runs) > 2 {
		s.mergeRuns()
	}
	for from := 0; from < len(s.perm); {
		to := from + 1
		for to < len(s.perm) && s.start(s.perm[to]) == s.start(s.perm[from]) {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(s.perm[from:to], func(a, b int32) int {
				return cmp.Or(cmp.Compare(s.ev.Dur[s.from+int(b)], s.ev.Dur[s.from+int(a)]), cmp.Compare(a, b))
			})
		}
		from = to
	}
}

// mergeRuns merges neighbouring runs two by two. Runs that do not overlap are merely copied.
func (s *laneSorter) mergeRuns() {
	out := slices.Grow(s.spare[:0], len(s.perm))
	kept := s.runs[:0]
	end := s.runs[len(s.runs)-1]
	for i := 0; i+1 < len(s.runs); i += 2 {
		first, middle, last := s.runs[i], s.runs[i+1], end
		if i+2 < len(s.runs) {
			last = s.runs[i+2]
		}
		out = s.merge(out, s.perm[first:middle], s.perm[middle:last])
		kept = append(kept, first)
	}
	s.runs = append(kept, end)
	s.perm, s.spare = out, s.perm
}

func (s *laneSorter) merge(out, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 && s.start(b[0]) < s.start(a[len(a)-1]) {
		if s.start(b[0]) < s.start(a[0]) {
			out = append(out, b[0])
			b = b[1:]
		} else {
			out = append(out, a[0])
			a = a[1:]
		}
	}
	return append(append(out, a...), b...)
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
