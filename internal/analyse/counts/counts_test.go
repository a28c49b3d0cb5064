package counts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/counts"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

const ms = 1_000_000

// countedSteps is a trace of four steps with three operators each, the last one with a fourth, and something outside of all steps.
func countedSteps(t *testing.T) (*model.Session, *model.Trace) {
	t.Helper()
	tr := testkit.NewTrace()
	tr.Op("aten::outside", 1, -5*ms, 10, "External id", 1)
	for i := range int64(4) {
		at := i * 10 * ms
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, at, 9*ms)
		tr.X("user_annotation", "outer", 100, 1, at+1, 5*ms)
		tr.Op("aten::linear", 1, at+10, 2*ms)
		tr.Op("aten::addmm", 1, at+20, ms)
		tr.Op("aten::addmm", 2, at+3*ms, ms) // on another thread, under nothing
		if i == 3 {
			tr.Op("aten::item", 1, at+3*ms, 100)
		}
		tr.Launch("kernel", 1, at+30, 5, at+6*ms, 1000, int(i)+1)
		tr.X("cuda_runtime", "cudaMemcpyAsync", 100, 1, at+6*ms, 10, "correlation", int(i)+100)
		// runs on into the next step
		tr.X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, at+9*ms+500_000, 700_000, "device", 0, "stream", 7, "correlation",
			int(i)+100, "bytes", 4096)
		tr.X("cuda_runtime", "cudaStreamSynchronize", 100, 1, at+7*ms, 100, "correlation", int(i)+200)
	}
	s, err := ingest.Open(context.Background(), []string{"-"}, ingest.Options{Stdin: strings.NewReader(tr.String())})
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Traces[0]
}

func TestStepCounts(t *testing.T) {
	s, trace := countedSteps(t)
	var c counts.Counter
	c.Add(trace, s.Strings, counts.TracedSteps(s, trace))
	checkCounts(t, &c, 4)
	var other counts.Counter // two ranks
	other.Add(trace, s.Strings, counts.TracedSteps(s, trace))
	other.Keep(strings.Clone)
	c.Merge(&other)
	checkCounts(t, &c, 8)
}

func checkCounts(t *testing.T, c *counts.Counter, steps int) {
	t.Helper()
	type row struct {
		low, high int64
		median    float64
	}
	want := map[string]row{
		"operators": {3, 4, 3}, "aten::linear": {1, 1, 1}, "aten::addmm": {2, 2, 2}, "aten::item": {0, 1, 0},
		"launches": {2, 2, 2}, "copies": {1, 1, 1}, "bytes": {4096, 4096, 4096}, "waits": {1, 1, 1}, "reserves": {0, 0, 0},
	}
	names := map[counts.Kind]string{counts.Ops: "operators", counts.Launches: "launches", counts.Copies: "copies",
		counts.CopyBytes: "bytes", counts.Syncs: "waits", counts.Reserves: "reserves"}
	got := map[string]row{}
	for _, r := range c.Rows() {
		name := r.Name
		if r.Kind != counts.Op {
			name = names[r.Kind]
		}
		got[name] = row{r.Low, r.High, r.Median}
		if r.Steps != steps {
			t.Errorf("%s: %d steps", name, r.Steps)
		}
		if under := map[string][]string{"aten::addmm": {"outer", "aten::linear"}, "aten::linear": {"outer"}}[name]; !slices.Equal(under,
			r.Under) && name != "aten::addmm" && name != "aten::item" {
			t.Errorf("%s is under %q", name, r.Under)
		}
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %+v, want %+v", name, got[name], w)
		}
		delete(got, name)
	}
	for name := range got { // memory was not recorded
		t.Errorf("a count of %q", name)
	}
}

// TestCountsByLine: where call stacks were recorded, calls are told apart by the line that they come from.
func TestCountsByLine(t *testing.T) {
	tr := testkit.NewTrace()
	for i := range int64(3) {
		at := i * 10 * ms
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, at, 9*ms)
		tr.X("python_function", "train.py(12): step", 100, 1, at+1, 8*ms, "Python id", i*2+1)
		tr.Op("aten::copy_", 1, at+10, ms)
		tr.Op("aten::copy_", 1, at+2*ms, ms)
	}
	s, err := ingest.Open(context.Background(), []string{"-"}, ingest.Options{Stdin: strings.NewReader(tr.String())})
	if err != nil {
		t.Fatal(err)
	}
	var c counts.Counter
	c.Add(s.Traces[0], s.Strings, counts.TracedSteps(s, s.Traces[0]))
	found := false
	for _, r := range c.Rows() {
		if r.Kind == counts.Call {
			found = true
			if r.Name != "aten::copy_" || r.Where.File != "train.py" || r.Where.Line != 12 || r.Low != 2 || r.High != 2 {
				t.Errorf("%+v", r)
			}
		}
	}
	if !found {
		t.Error("no call has a line")
	}
}

// TestStepsOfAWindow: a step belongs to the trace that was recorded while it ran, also where nothing happens at its very beginning and end.
func TestStepsOfAWindow(t *testing.T) {
	step := func(from, to model.Time) model.Step {
		return model.Step{Phase: model.PhaseTrace, Start: from, End: to}
	}
	p := &model.Process{Steps: []model.Step{step(100, 200), step(200, 300), step(900, 1000)},
		Windows: []model.Window{{Start: 90, End: 310}}}
	s := &model.Session{Processes: []*model.Process{p}}
	trace := &model.Trace{From: 105, To: 290}
	if got := counts.TracedSteps(s, trace); len(got) != 2 {
		t.Errorf("steps %v, want both of the window", got)
	}
	trace.Window = -1 // unknown: only what surely was recorded
	if got := counts.TracedSteps(s, trace); len(got) != 0 {
		t.Errorf("steps %v of a trace whose recording is not known", got)
	}
}
