package replay_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// ranksOf is a session of traces of one rank each; rank i has the steps first[i] to first[i]+2, each of which multiplies for work[i] µs.
func ranksOf(t *testing.T, first []int, work []int64) *model.Session {
	t.Helper()
	s := &model.Session{Strings: &model.Strings{}}
	for rank := range first {
		tr := testkit.NewTrace()
		for i := range int64(3) {
			tr.X("user_annotation", "ProfilerStep#"+string(rune('0'+first[rank]+int(i))), 100, 1, ms+i*work[rank]*us, work[rank]*us)
			tr.Op("aten::mm", 1, ms+i*work[rank]*us, work[rank]*us)
		}
		tr.Op("aten::sum", 1, ms+3*work[rank]*us, work[rank]*us) // a quarter of the trace
		got, err := ingest.ReadTrace(context.Background(), strings.NewReader(tr.String()), "trace.json", s)
		if err != nil {
			t.Fatal(err)
		}
		got.Rank = rank
	}
	return s
}

// TestRanksOfTraces: an answer about several ranks says whose steps it gives: those of the slowest, of those that hold the step.
func TestRanksOfTraces(t *testing.T) {
	r := replay.NewSession(ranksOf(t, []int{1, 2, 1}, []int64{500, 900, 700}), nil)
	ask := func(c replay.Change) *replay.Answer {
		a, err := r.Ask(c)
		if err != nil {
			t.Fatal(err)
		}
		if before, after, err := r.Price(c); err != nil || before != a.Before || after != a.After {
			t.Errorf("priced alone: %g and %g, want %g and %g (%v)", before, after, a.Before, a.After, err)
		}
		return a
	}
	half := replay.Change{Scale: []replay.Scale{{Name: "matmul", Factor: 0.5}}}
	a := ask(half)
	if a.Rank != 1 || a.Ranks != 3 || a.Steps != 3 || math.Abs(a.Before/us-900) > 1 || math.Abs(a.After/us-450) > 1 ||
		math.Abs(a.Coverage-0.75) > 0.01 || math.Abs(a.Named/us-900) > 1 {
		t.Errorf("all steps: %+v", a)
	}
	if a := ask(replay.Change{RanksEqual: true}); a.Rank != 2 {
		t.Errorf("equal ranks: %+v", a)
	}
	if !r.Only(1) {
		t.Fatal("no step 1")
	}
	if a := ask(half); a.Rank != 2 || a.Ranks != 2 || a.Steps != 1 || math.Abs(a.Before/us-700) > 1 || math.Abs(a.After/us-350) > 1 ||
		math.Abs(a.Coverage-0.25) > 0.01 {
		t.Errorf("step 1: %+v", a)
	}
	if !r.Only(4) {
		t.Fatal("no step 4")
	}
	if a := ask(half); a.Rank != 1 || a.Ranks != 1 {
		t.Errorf("step 4: %+v", a)
	}
	if r.Ranks() != 3 || r.LeftOut() != 0 {
		t.Errorf("%d ranks, %d traces left out", r.Ranks(), r.LeftOut())
	}
}

// TestTracesLeftOut: two traces of one rank are not one run; one is replayed and the other counted.
func TestTracesLeftOut(t *testing.T) {
	s := ranksOf(t, []int{1, 4}, []int64{500, 900})
	s.Traces[1].Rank = 0
	if r := replay.NewSession(s, nil); r.LeftOut() != 1 || r.Ranks() != 1 {
		t.Errorf("%d traces left out, %d ranks", r.LeftOut(), r.Ranks())
	}
}

// TestRunWithoutSteps: where no steps were recorded, questions are answered about the run, and reports replay none.
func TestRunWithoutSteps(t *testing.T) {
	module := testkit.Frame{File: "/home/u/serve.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.Do(testkit.Python(600, module), testkit.Blocked(400, module))
	b := account.Of(p.S, p.P)
	if r := replay.NewSession(p.S, b); r != nil {
		t.Error("a report replays a run without steps")
	}
	r := replay.ForQuestions(p.S, b)
	if r == nil || !r.Unprofiled() || r.PerStep() || r.Basis() != "sampled run" {
		t.Fatalf("%+v", r)
	}
	a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: "python", Factor: 0.5}}})
	if err != nil || math.Abs(a.Before/ms-1000) > 2 || math.Abs(a.After/ms-700) > 5 || a.Steps != 1 || a.Coverage < 0.99 {
		t.Errorf("%+v, %v", a, err)
	}
	if r.Only(0) {
		t.Error("a run without steps has step 0")
	}
	if r := replay.NewSession(read(t, testkit.NewTrace().Op("aten::mm", 1, 0, 900*us)), nil); r.PerStep() ||
		r.Basis() != "traced run" || r.Only(0) {
		t.Error("a trace without steps has some")
	}
}

// TestCoverage: unprofiled steps stand for all of their kind, one that is asked for stands for itself.
func TestCoverage(t *testing.T) {
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.Do(testkit.Python(1000, module))
	p.Steps(5, model.PhaseWarmup, testkit.Python(100, module))
	p.Steps(5, model.PhaseBaseline, testkit.Python(100, module))
	p.P.Steps[9].Skipped = 5 // steps that the agent has left out
	p.Do(testkit.Python(500, module))
	p.Steps(5, model.PhaseBaseline, testkit.Python(100, module))
	p.Do(testkit.Python(1000, module))
	r := replay.NewSession(p.S, account.Of(p.S, p.P))
	for _, c := range []struct {
		only int64
		want float64 // of 4 s
	}{{-1, 0.5}, {7, 0.025}} {
		only, want := c.only, c.want
		if only >= 0 && !r.Only(only) {
			t.Fatalf("no step %d", only)
		}
		if a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: "python", Factor: 0.5}}}); err != nil ||
			math.Abs(a.Coverage-want) > 0.001 {
			t.Errorf("step %d: %+v, %v; want %g of the run", only, a, err, want)
		}
	}
}
