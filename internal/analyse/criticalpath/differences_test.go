package criticalpath

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestPathDifferences holds the paths of docs/differences.md.
func TestPathDifferences(t *testing.T) {
	var s model.Strings
	load := func(name string) *model.Trace {
		return slowtrace.Read(t, filepath.Join(slowtrace.Testdata(), "differences", name+".json"), &s)
	}
	check := func(what string, got, want model.Dur) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got.Std(), want.Std())
		}
	}

	trace := load("python-between")
	p := Of(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	check("python-between: host", p.Kinds[Host], slowtrace.Micros(800))
	check("python-between: path", p.To.Sub(p.From), slowtrace.Micros(1000))

	trace = load("after-window")
	step := trace.Steps[0]
	p = Of(trace, &s, step.Start, step.End)
	checkPath(t, p)
	check("after-window: path", p.To.Sub(p.From), slowtrace.Micros(1000))
	whole := Of(trace, &s, trace.From, trace.To) // HTA's number for the step
	checkPath(t, whole)
	check("after-window: path to the end of what was launched", whole.To.Sub(whole.From), slowtrace.Micros(2500))
	check("after-window: of it the kernel", whole.Kinds[Compute], slowtrace.Micros(2390))

	trace = load("two-threads")
	p = Of(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	threads := map[model.LaneID]model.Dur{}
	for _, span := range p.Spans {
		threads[span.Lane] += span.Dur
	}
	check("two-threads: operators", p.Kinds[Op], slowtrace.Micros(1000))
	if len(threads) != 2 {
		t.Errorf("two-threads: the path goes through %d threads", len(threads))
	}

	trace = load("graph-kernels")
	p = Of(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	check("graph-kernels: path", p.To.Sub(p.From), slowtrace.Micros(1000))
	check("graph-kernels: kernels", p.Kinds[Compute], slowtrace.Micros(860))
}

func TestHostilePaths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		trace, s := slowtrace.Random(r)
		checkPath(t, Of(trace, s, trace.From, trace.To))
		checkRanksPath(t, OverRanks([]*model.Trace{trace, slowtrace.Shifted(trace)}, s, trace.From, trace.To))
	}
}

func TestPathOfNothing(t *testing.T) {
	s := &model.Strings{}
	s.Intern("")
	checkPath(t, Of(&model.Trace{}, s, 0, 0))
}
