package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// Sequence is a series of kernels that one operator (with what it calls) launched again and again in the same order: a
// candidate for fusing, a CUDA graph or compilation.
type Sequence struct {
	Op      string
	Kernels []string // in order of launch; at most maxSequenceNames of them
	Length  int
	Count   int64
	Device  model.Dur  // of all kernels of all occurrences
	CPU     model.Dur  // of the operator in all occurrences
	Where   code.Where // of the first occurrence
}

// maxSequenceNames bounds the names that a Sequence keeps.
const maxSequenceNames = 64

// Sequences finds the kernel sequences of at least minLength kernels that occur at least twice, most device time first, at
// most top of them. An operator that launches nothing beyond what one child launches is skipped in favour of the outer one.
func Sequences(t *model.Trace, s *model.Strings, minLength, top int) []Sequence {
	q := newSequenceFinder(t, s)
	for _, w := range Timelines(t, s) {
		for _, id := range w.Rows {
			if call := t.Events.Link[id]; call != model.NoEvent {
				q.launched = append(q.launched, id)
			}
		}
	}
	ev := &t.Events
	slices.SortFunc(q.launched, func(a, b model.EventID) int {
		return cmp.Or(cmp.Compare(ev.Start[ev.Link[a]], ev.Start[ev.Link[b]]), cmp.Compare(ev.Start[a], ev.Start[b]))
	})
	for _, id := range q.launched {
		q.add(id)
	}
	return q.finish(int32(max(minLength, 1)), top)
}

type sequenceFinder struct {
	t        *model.Trace
	s        *model.Strings
	count    []int32 // kernels below each event
	hash     []uint64
	time     []model.Dur
	launched []model.EventID // by launch
}

func newSequenceFinder(t *model.Trace, s *model.Strings) *sequenceFinder {
	n := t.Events.Len()
	return &sequenceFinder{t: t, s: s, count: make([]int32, n), hash: make([]uint64, n), time: make([]model.Dur, n)}
}

// add books a kernel to every operator around its launch.
func (q *sequenceFinder) add(id model.EventID) {
	ev := &q.t.Events
	for at := ev.Parent[ev.Link[id]]; at != model.NoEvent; at = ev.Parent[at] {
		if ev.Kind[at] != model.KindOp {
			continue
		}
		q.count[at]++
		q.hash[at] = (q.hash[at] ^ uint64(ev.Name[id])) * 0x100000001b3
		q.time[at] += ev.Dur[id]
	}
}

type sequenceKey struct {
	op     model.Str
	length int32
	hash   uint64
}

type sequenceSum struct {
	first       model.EventID
	count       int64
	device, cpu model.Dur
}

func (q *sequenceFinder) finish(minLength int32, top int) []Sequence {
	ev := &q.t.Events
	sums := map[sequenceKey]*sequenceSum{}
	for i := range ev.Len() {
		if q.count[i] < minLength || q.sameAsOuter(model.EventID(i)) {
			continue
		}
		key := sequenceKey{ev.Name[i], q.count[i], q.hash[i]}
		sum := sums[key]
		if sum == nil {
			sum = &sequenceSum{first: model.EventID(i)}
			sums[key] = sum
		}
		sum.count++
		sum.device += q.time[i]
		sum.cpu += ev.Dur[i]
	}
	out := []Sequence{}
	firsts := []model.EventID{}
	for key, sum := range sums {
		if sum.count > 1 {
			out = append(out, Sequence{Op: q.s.Text(key.op), Length: int(key.length), Count: sum.count, Device: sum.device, CPU: sum.cpu,
				Where: code.Where{Line: int32(len(firsts))}})
			firsts = append(firsts, sum.first)
		}
	}
	slices.SortFunc(out, func(a, b Sequence) int {
		return cmp.Or(cmp.Compare(b.Device, a.Device), cmp.Compare(firsts[a.Where.Line], firsts[b.Where.Line]))
	})
	out = out[:min(len(out), top)]
	lines := code.NewFinder(q.t, q.s)
	for i := range out {
		first := firsts[out[i].Where.Line]
		out[i].Where = lines.Of(first)
		out[i].Kernels = q.names(first, out[i].Length)
	}
	return out
}

// sameAsOuter says whether an enclosing operator launched exactly the same kernels.
func (q *sequenceFinder) sameAsOuter(id model.EventID) bool {
	ev := &q.t.Events
	for at := ev.Parent[id]; at != model.NoEvent; at = ev.Parent[at] {
		if ev.Kind[at] == model.KindOp {
			return q.count[at] == q.count[id]
		}
	}
	return false
}

// names are the kernels of one occurrence.
func (q *sequenceFinder) names(op model.EventID, length int) []string {
	ev := &q.t.Events
	at, _ := slices.BinarySearchFunc(q.launched, ev.Start[op], func(id model.EventID, t model.Time) int {
		return cmp.Compare(ev.Start[ev.Link[id]], t)
	})
	out := make([]string, 0, min(length, maxSequenceNames))
	for _, id := range q.launched[at:] {
		if len(out) == cap(out) || ev.Start[ev.Link[id]] > ev.End(op) {
			break
		}
		if ev.Lane[ev.Link[id]] == ev.Lane[op] {
			out = append(out, strings.Clone(q.s.Text(ev.Name[id])))
		}
	}
	return out
}
