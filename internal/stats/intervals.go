package stats

import (
	"cmp"
	"slices"
)

// Interval is a half-open span of time [From, To), in nanoseconds.
type Interval struct{ From, To int64 }

// Len is the length of the interval, 0 where it is empty or reversed.
func (i Interval) Len() int64 { return max(0, i.To-i.From) }

// Set is a set of instants: intervals sorted by From, disjoint, not touching, none empty. Union and the methods keep that.
type Set []Interval

// Union merges intervals in any order into a Set. Touching intervals merge, empty and reversed ones vanish.
// The slice is sorted and reused.
func Union(in []Interval) Set {
	if !slices.IsSortedFunc(in, byFrom) {
		slices.SortFunc(in, byFrom)
	}
	out := in[:0]
	for _, i := range in {
		out = push(out, i)
	}
	return Set(out)
}

// Push adds an interval that begins no earlier than the last one of the set does.
func (s Set) Push(i Interval) Set { return push(s, i) }

func byFrom(a, b Interval) int { return cmp.Compare(a.From, b.From) }

// push appends an interval that does not start before the last one starts.
func push(out []Interval, i Interval) []Interval {
	if i.To <= i.From {
		return out
	}
	if n := len(out); n > 0 && i.From <= out[n-1].To {
		out[n-1].To = max(out[n-1].To, i.To)
		return out
	}
	return append(out, i)
}

// Len is the total length of the set.
func (s Set) Len() int64 {
	var sum int64
	for _, i := range s {
		sum += i.To - i.From
	}
	return sum
}

// Hull is the interval from the first start to the last end; empty for an empty set.
func (s Set) Hull() Interval {
	if len(s) == 0 {
		return Interval{}
	}
	return Interval{s[0].From, s[len(s)-1].To}
}

// Or is the union of two sets.
func (s Set) Or(o Set) Set {
	out := make([]Interval, 0, len(s)+len(o))
	for len(s) > 0 || len(o) > 0 {
		if len(o) == 0 || len(s) > 0 && s[0].From <= o[0].From {
			out, s = push(out, s[0]), s[1:]
		} else {
			out, o = push(out, o[0]), o[1:]
		}
	}
	return out
}

// And is the intersection of two sets.
func (s Set) And(o Set) Set {
	var out []Interval
	for len(s) > 0 && len(o) > 0 {
		from, to := max(s[0].From, o[0].From), min(s[0].To, o[0].To)
		if from < to {
			out = append(out, Interval{from, to})
		}
		if s[0].To < o[0].To {
			s = s[1:]
		} else {
			o = o[1:]
		}
	}
	return out
}

// Minus is what is in s and not in o.
func (s Set) Minus(o Set) Set {
	var out []Interval
	for _, i := range s {
		for len(o) > 0 && o[0].To <= i.From {
			o = o[1:]
		}
		for _, hole := range o {
			if hole.From >= i.To {
				break
			}
			if hole.From > i.From {
				out = append(out, Interval{i.From, hole.From})
			}
			i.From = max(i.From, hole.To)
		}
		if i.From < i.To {
			out = append(out, i)
		}
	}
	return out
}

// LenIn is the length of the part of the set inside an interval, without building it.
func (s Set) LenIn(w Interval) int64 {
	first, _ := slices.BinarySearchFunc(s, w.From, func(i Interval, t int64) int { return cmp.Compare(i.To, t+1) })
	var sum int64
	for _, i := range s[first:] {
		if i.From >= w.To {
			break
		}
		sum += min(i.To, w.To) - max(i.From, w.From)
	}
	return max(0, sum)
}

// Has says whether an instant is in the set.
func (s Set) Has(t int64) bool {
	at, _ := slices.BinarySearchFunc(s, t, func(i Interval, t int64) int { return cmp.Compare(i.To, t+1) })
	return at < len(s) && s[at].From <= t
}
