package replay_test

import (
	"math"
	"slices"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// rankSession has one rank for each number of ms that it works before it meets the others; all steps last as long as the last one
// works, and 10 ms more.
func rankSession(work ...int) *model.Session {
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	reduce := testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/distributed/distributed_c10d.py",
		Function: "all_reduce", First: 1, Line: 5}
	first := testkit.NewProgram()
	for rank, ms := range work {
		p := first
		if rank > 0 {
			p = first.Add(model.RoleRank, 200+rank)
		}
		p.P.Role, p.P.Rank, p.P.WorldSize = model.RoleRank, rank, len(work)
		p.Steps(20, model.PhaseBaseline, testkit.Native(ms, module), testkit.Blocked(slices.Max(work)-ms+10, module, reduce))
	}
	return first.S
}

// Equal ranks meet when the one in the middle has arrived.
func TestLiveRanksEqual(t *testing.T) {
	for _, c := range []struct {
		work   []int
		before float64
		after  float64
	}{
		{[]int{40, 100}, 110, 50},
		{[]int{100, 40}, 110, 50},
		{[]int{40, 60, 100, 50}, 110, 60}, // of 40, 50, 60, 100 ms
		{[]int{50, 50}, 60, 60},
	} {
		s := rankSession(c.work...)
		r := replay.NewSession(s, account.Of(s, account.Driver(s)))
		if r == nil || !r.Unprofiled() || !r.Meets() || !slices.Contains(r.Causes(), "straggler") {
			t.Fatalf("%v: %+v", c.work, r)
		}
		removal, _ := r.Removal("straggler")
		for _, change := range []replay.Change{{RanksEqual: true}, removal} {
			a, err := r.Ask(change)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(a.Before/ms-c.before) > 2 || math.Abs(a.After/ms-c.after) > 2 {
				t.Errorf("%v: %.1f ms become %.1f, want %.0f and %.0f", c.work, a.Before/ms, a.After/ms, c.before, c.after)
			}
			if _, after, err := r.Price(change); err != nil || after != a.After {
				t.Errorf("%v: the price is of %.1f ms, the answer of %.1f (%v)", c.work, after/ms, a.After/ms, err)
			}
		}
	}
	if s := rankSession(40); replay.NewSession(s, account.Of(s, account.Driver(s))).Meets() {
		t.Error("one rank meets others")
	}
}

// TestLiveRanksTogether: a change is of all ranks, and the step ends when the rank that then works longest has met the others.
func TestLiveRanksTogether(t *testing.T) {
	half := []replay.Scale{{Name: "cpu operators", Factor: 0.5}}
	for _, c := range []struct {
		work   []int
		change replay.Change
		after  float64
		rank   int
	}{
		// none waits less than for the last
		{[]int{40, 100}, replay.Change{Scale: []replay.Scale{{Name: "communication", Factor: 0}}}, 100, 1},
		{[]int{40, 100}, replay.Change{Scale: []replay.Scale{{Name: "communication", Factor: 0}}, RanksEqual: true}, 40, 0},
		{[]int{40, 100}, replay.Change{Scale: half}, 60, 1},
		{[]int{100, 40}, replay.Change{Scale: half}, 60, 0},
		{[]int{40, 60, 100, 50}, replay.Change{Scale: half, RanksEqual: true}, 35, 3},
		{[]int{40, 60, 100, 50}, replay.Change{Scale: []replay.Scale{{Name: "communication", Factor: 2}}}, 120, 2},
		{[]int{40, 100}, replay.Change{Scale: []replay.Scale{{Name: "communication", Factor: 1}}}, 110, 1},
	} {
		s := rankSession(c.work...)
		for _, only := range []bool{false, true} {
			r := replay.NewSession(s, account.Of(s, account.Driver(s)))
			if only && !r.Only(7) {
				t.Fatal("no step 7")
			}
			a, err := r.Ask(c.change)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(a.Before/ms-110) > 2 || math.Abs(a.After/ms-c.after) > 2 || a.Rank != c.rank || a.Ranks != len(c.work) ||
				r.Ranks() != len(c.work) {
				t.Errorf("%v, %+v: %.1f ms become %.1f of rank %d of %d, want %.0f of rank %d", c.work, c.change, a.Before/ms, a.After/ms,
					a.Rank, a.Ranks, c.after, c.rank)
			}
			if steps := 20; a.Steps != steps && !only || only && a.Steps != 1 {
				t.Errorf("%d steps", a.Steps)
			}
		}
		r := replay.NewSession(s, account.Of(s, account.Driver(s)))
		for _, name := range r.Kinds() {
			if a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: name, Factor: 1}}}); err != nil || a.After != a.Before {
				t.Errorf("%v, %s=1: %.3f ms become %.3f (%v)", c.work, name, a.Before/ms, a.After/ms, err)
			}
		}
	}
}
