package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// lightningPython is the interpreter that has Lightning, where the environments of scripts/env.sh are built.
func lightningPython(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skipf("scripts/env.sh newest: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestLightningTableIsWhatLightningPrints gives the same durations to Lightning's own SimpleProfiler.
func TestLightningTableIsWhatLightningPrints(t *testing.T) {
	const program = `
import json, sys
from lightning.pytorch.profilers import SimpleProfiler
p = SimpleProfiler()
p._stage = "fit"
for name, durations in json.load(sys.stdin):
    p.recorded_durations[name] = durations
import lightning.pytorch.profilers.simple as simple
class Clock:
    perf_counter = staticmethod(lambda: p.start_time + 12.3456789)
simple.time = Clock
sys.stdout.write(p.summary())
`
	type row struct {
		name      string
		durations []float64
	}
	rows := []row{
		{"[Strategy]SingleDeviceStrategy.training_step", []float64{0.25, 0.5, 0.125}},
		{"run_training_epoch", []float64{11}},
		{"save_checkpoint", []float64{1.0e-6}},
		{"été", []float64{0.0001234567, 0.1}},
		{"tiny", []float64{1.5e-5}},
		{"[LightningModule]M.on_train_end", []float64{0.25, 0.625}},
	}
	var input []any
	var actions []report.LightningAction
	for _, r := range rows {
		input = append(input, []any{r.name, r.durations})
		a := report.LightningAction{Name: r.name, Count: int64(len(r.durations))}
		for _, d := range r.durations {
			a.Total += d
		}
		actions = append(actions, a)
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lightningPython(t), "-c", program)
	cmd.Stdin = strings.NewReader(string(data))
	want, err := cmd.Output()
	if err != nil {
		t.Skipf("Lightning cannot be run: %v", err)
	}
	var got strings.Builder
	if err := LightningTable(&got, "fit", actions, 12.3456789); err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestFiveDigitsIsPythonsFormat(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	values := []float64{0, 1, -1, 0.1, 1234.5, 9999.94, 9999.96, 12345.6, 99999.9, 100000, 1e-4, 9.99996e-5, 0.00012345678,
		1.0 / 3, 2e22, 123.456, 0.5}
	data, _ := json.Marshal(values)
	out, err := exec.Command(python, "-c", `import json, sys; print(" ".join(f"{float(v):.5}" for v in json.loads(sys.argv[1])))`,
		string(data)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range strings.Fields(string(out)) {
		if got := fiveDigits(values[i]); got != want {
			t.Errorf("%v: %q, Python writes %q", values[i], got, want)
		}
	}
}

func TestLightningActionsSumUp(t *testing.T) {
	s := &model.Strings{}
	step, other := s.Intern("training_step"), s.Intern("backward")
	p := &model.Process{End: 10e9, Spans: []model.Span{
		{Kind: model.SpanAction, Name: step, Start: 1e9, End: 2e9},
		{Kind: model.SpanGC, Start: 0, End: 1e9},
		{Kind: model.SpanAction, Name: other, Start: 2e9, End: 2.5e9},
		{Kind: model.SpanAction, Name: step, Start: 3e9, End: 6e9},
	}}
	actions, elapsed := report.LightningActions(p, s)
	if elapsed != 9 || len(actions) != 2 ||
		actions[0] != (report.LightningAction{Name: "training_step", Count: 2, Total: 4, Undistorted: -1}) || actions[1].Total != 0.5 {
		t.Errorf("%+v in %v s", actions, elapsed)
	}
}

// TestLightningActionsExact: the agent's sums count where it left out short spans, with the mean of calls that were not distorted.
func TestLightningActionsExact(t *testing.T) {
	s := &model.Strings{}
	p := &model.Process{
		Start: 1e9, End: 10e9, Spans: []model.Span{{Kind: model.SpanAction, Name: s.Intern("training_step"), Start: 2e9, End: 3e9}},
	}
	p.Counters = map[string]float64{
		"action_count:training_step": 5, "action_ns:training_step": 1.5e9, "action_undistorted_count:training_step": 4,
		"action_undistorted_ns:training_step": 0.96e9, "action_count:log": 100, "action_ns:log": 1e6, "action_undistorted_count:log": 0,
		"action_undistorted_ns:log": 0, "graph_breaks": 3,
	}
	actions, elapsed := report.LightningActions(p, s)
	if elapsed != 8 || len(actions) != 2 ||
		actions[0] != (report.LightningAction{Name: "training_step", Count: 5, Total: 1.2, Undistorted: 4}) ||
		actions[1] != (report.LightningAction{Name: "log", Count: 100, Total: 0.001, Undistorted: 0}) {
		t.Errorf("%+v in %v s", actions, elapsed)
	}
}

func TestLightningStage(t *testing.T) {
	for _, c := range []struct {
		actions []string
		want    string
	}{
		{[]string{"[_EvaluationLoop].val_next", "run_training_epoch"}, "fit"},
		{[]string{"[_EvaluationLoop].test_next"}, "test"},
		{[]string{"[Trainer]Mine.evaluate", "[Trainer]Mine.train"}, "fit"},
		{[]string{"[Trainer]Mine.predict"}, "predict"},
		{[]string{"[Trainer]Mine.evaluate", "[Callback]Mine.train"}, "validate"},
		{[]string{"[Accelerator]Accelerator.backward"}, ""},
	} {
		var actions []report.LightningAction
		for _, name := range c.actions {
			actions = append(actions, report.LightningAction{Name: name})
		}
		if got := LightningStage(actions); got != c.want {
			t.Errorf("%q: stage %q, want %q", c.actions, got, c.want)
		}
	}
}
