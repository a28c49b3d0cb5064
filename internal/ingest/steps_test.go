package ingest

import (
	"fmt"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// loop builds a program of n steps of 10 kernels: the names within a step differ except for a layer that repeats.
func loop(n int, mark func(t *testkit.Trace, step int, start, dur int64)) string {
	t := testkit.NewTrace()
	correlation := 1
	for step := range n {
		start := int64(1_000_000 + step*100_000)
		for k := range 10 {
			name := fmt.Sprintf("kernel_%d", k)
			if k >= 3 && k < 9 {
				name = fmt.Sprintf("layer_%d", k%2)
			}
			at := start + int64(k)*9000
			t.Op(fmt.Sprintf("op_%d", k), 1, at, 8000, "External id", correlation)
			t.Launch(name, 1, at+100, 1000, at+3000, 2000, correlation)
			correlation++
		}
		if mark != nil {
			mark(t, step, start, 95_000)
		}
	}
	return t.String()
}

func TestStepsAreFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		mark   func(t *testkit.Trace, step int, start, dur int64)
		source model.StepSource
		steps  int
	}{
		{"ProfilerStep", func(t *testkit.Trace, step int, start, dur int64) {
			t.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", step+5), 100, 1, start, dur)
		}, model.StepProfiler, 8},
		{"own marks", func(t *testkit.Trace, step int, start, dur int64) {
			t.X("user_annotation", "train_step", 100, 1, start, dur).X("user_annotation", "forward", 100, 1, start, dur/3)
		}, model.StepMark, 8},
		{"numbered marks", func(t *testkit.Trace, step int, start, dur int64) {
			t.X("user_annotation", fmt.Sprintf("iteration %d", step), 100, 1, start, dur)
		}, model.StepMark, 8},
		{"optimizer", func(t *testkit.Trace, step int, start, dur int64) {
			t.X("user_annotation", "Optimizer.step#SGD.step", 100, 1, start+dur-2000, 2000)
		}, model.StepOptimizer, 8},
		{"DataLoader", func(t *testkit.Trace, step int, start, dur int64) {
			t.X("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 1, start-50, 40)
		}, model.StepDataLoader, 8},
		{"nothing", nil, model.StepPeriod, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, tr := readText(t, loop(8, c.mark))
			if len(tr.Steps) != c.steps || tr.Steps[0].Source != c.source {
				t.Fatalf("%d steps %+v, want %d from %s", len(tr.Steps), tr.Steps, c.steps, c.source)
			}
			for i, s := range tr.Steps[1 : len(tr.Steps)-1] {
				if d := s.End - s.Start; d < 90_000 || d > 110_000 {
					t.Errorf("step %d lasts %d ns, want 100,000", i+1, d)
				}
			}
		})
	}
	if _, tr := readText(t, loop(1, nil)); len(tr.Steps) != 0 {
		t.Errorf("one round is no period, but steps are %+v", tr.Steps)
	}
}

func TestOutlierStepsAreSetApart(t *testing.T) {
	b := testkit.NewTrace()
	at := int64(1_000_000)
	for i, dur := range []int64{900, 100, 110, 90, 105, 300, 100} {
		b.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, at, dur)
		at += dur
	}
	_, tr := readText(t, b.String())
	for i, s := range tr.Steps {
		if want := i == 0 || i == 5; s.Warmup != want {
			t.Errorf("step %d of %d ns: set apart %v, want %v", i, s.End-s.Start, s.Warmup, want)
		}
	}
}

// TestLayersOfOnePassAreNoSteps: what repeats between an embedding and a head are layers; without the head they may be steps that
// a recording joined late.
func TestLayersOfOnePassAreNoSteps(t *testing.T) {
	pass := func(embedding, head bool) string {
		b, at, correlation := testkit.NewTrace(), int64(1_000_000), 1
		run := func(name string) {
			b.Op("op_"+name, 1, at, 8000, "External id", correlation).Launch(name, 1, at+100, 1000, at+3000, 2000, correlation)
			at, correlation = at+9000, correlation+1
		}
		if embedding {
			run("embedding")
		}
		for range 6 {
			for k := range 10 {
				run(fmt.Sprintf("kernel_%d", k))
			}
		}
		if head {
			run("head")
		}
		return b.String()
	}
	for _, c := range []struct {
		embedding, head bool
		steps           int
	}{{true, true, 0}, {true, false, 6}, {false, true, 6}, {false, false, 6}} {
		if _, tr := readText(t, pass(c.embedding, c.head)); len(tr.Steps) != c.steps {
			t.Errorf("embedding %v, head %v: %d steps, want %d", c.embedding, c.head, len(tr.Steps), c.steps)
		}
	}
}
