package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// bits is the slow, obvious interval arithmetic: one bool per instant.
type bits [64]bool

func paint(in []Interval) (b bits) {
	for _, i := range in {
		for t := i.From; t < i.To; t++ {
			b[t] = true
		}
	}
	return b
}

func (b bits) set() Set {
	var out Set
	for t := range b {
		if b[t] {
			out = push(out, Interval{int64(t), int64(t) + 1})
		}
	}
	return out
}

func combine(a, b bits, f func(x, y bool) bool) (c bits) {
	for t := range a {
		c[t] = f(a[t], b[t])
	}
	return c
}

func randomIntervals(r *rand.Rand) []Interval {
	out := make([]Interval, r.IntN(8))
	for i := range out {
		from := r.Int64N(60)
		out[i] = Interval{from, min(63, from+r.Int64N(12)-1)}
	}
	return out
}

func TestAlgebraAgreesWithBitmaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := func(what string, got, want Set) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s = %v, want %v", what, got, want)
		}
	}
	for range 20000 {
		x, y := randomIntervals(r), randomIntervals(r)
		px, py := paint(x), paint(y)
		a, b := Union(slices.Clone(x)), Union(slices.Clone(y))
		same("Union", a, px.set())
		same("Or", a.Or(b), combine(px, py, func(p, q bool) bool { return p || q }).set())
		same("And", a.And(b), combine(px, py, func(p, q bool) bool { return p && q }).set())
		same("Minus", a.Minus(b), combine(px, py, func(p, q bool) bool { return p && !q }).set())
		from := r.Int64N(60)
		w := Interval{from, from + r.Int64N(20)}
		if got, want := a.LenIn(w), a.And(Union([]Interval{w})).Len(); got != want {
			t.Fatalf("%v.LenIn(%v) = %d, want %d", a, w, got, want)
		}
		if got, want := Union([]Interval{w}).Minus(a).Len()+a.LenIn(w), w.Len(); got != want {
			t.Fatalf("gaps of %v in %v: parts sum to %d, want %d", a, w, got, want)
		}
		at := r.Int64N(63)
		if a.Has(at) != px[at] {
			t.Fatalf("%v.Has(%d) = %v", a, at, a.Has(at))
		}
	}
}

func TestHull(t *testing.T) {
	if got := Union([]Interval{{5, 7}, {1, 2}}).Hull(); got != (Interval{1, 7}) {
		t.Errorf("hull %v", got)
	}
	if got := (Set{}).Hull(); got != (Interval{}) {
		t.Errorf("hull of nothing %v", got)
	}
}
