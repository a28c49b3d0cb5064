package times

import (
	"cmp"
	"slices"
	"sort"

	"bottleneck/internal/model"
)

// Interval is a half-open stretch of time.
type Interval struct{ Start, End model.Time }

// Dur is its length in ns.
func (i Interval) Dur() float64 { return float64(i.End - i.Start) }

// Disjoint sorts intervals and cuts overlaps off the later one.
func Disjoint(in []Interval) []Interval {
	slices.SortFunc(in, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	out := in[:0]
	for _, w := range in {
		if n := len(out); n > 0 && w.Start < out[n-1].End {
			w.Start = out[n-1].End
		}
		if w.End > w.Start {
			out = append(out, w)
		}
	}
	return out
}

// Within reports the index of the window that holds t, -1 for none.
func Within(windows []Interval, t model.Time) int {
	i, found := slices.BinarySearchFunc(windows, t, func(w Interval, t model.Time) int { return cmp.Compare(w.Start, t) })
	if !found {
		i--
	}
	if i >= 0 && t < windows[i].End {
		return i
	}
	return -1
}

// Covered is the time that at least one of the intervals covers, in ns.
func Covered(in []Interval) float64 {
	t := 0.0
	for _, w := range Disjoint(slices.Clone(in)) {
		t += w.Dur()
	}
	return t
}

// Overlap is how much of a stretch sorted and disjoint intervals cover, in ns.
func Overlap(list []Interval, from, to model.Time) (t float64) {
	for i := sort.Search(len(list), func(i int) bool { return list[i].End > from }); i < len(list) && list[i].Start < to; i++ {
		t += max(float64(min(list[i].End, to)-max(list[i].Start, from)), 0)
	}
	return t
}
