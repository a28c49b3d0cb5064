package view

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// TestTorchRowsWithin splits a recorded training run at an instant: both halves together are the whole table.
func TestTorchRowsWithin(t *testing.T) {
	s, trace := readTrace(t, "../../testdata/torchtable/memory.trace.json.gz")
	whole := TorchRows(trace, s.Strings, keyaverages.Options{})
	middle := trace.From + (trace.To-trace.From)/2
	first := TorchRowsWithin(trace, s.Strings, keyaverages.Options{}, []TimeSpan{{0, middle}})
	second := TorchRowsWithin(trace, s.Strings, keyaverages.Options{}, []TimeSpan{{middle, trace.To + 1e9}})
	sums := map[string]TorchRow{}
	for _, r := range append(first, second...) {
		sum := sums[r.Name]
		sum.Count += r.Count
		sum.CPUBytes += r.CPUBytes
		sum.Flops += r.Flops
		sum.SelfCPU += r.SelfCPU
		sums[r.Name] = sum
	}
	for _, r := range whole {
		sum := sums[r.Name]
		if sum.Count != r.Count || sum.CPUBytes != r.CPUBytes || sum.Flops != r.Flops || sum.SelfCPU-r.SelfCPU > 1e-6 ||
			r.SelfCPU-sum.SelfCPU > 1e-6 {
			t.Errorf("%s: halves add up to %+v, the whole is %+v", r.Name, sum, r)
		}
	}
	if len(first) == 0 || len(second) == 0 || len(first) == len(whole) && len(second) == len(whole) {
		t.Errorf("%d and %d rows of %d: nothing was split", len(first), len(second), len(whole))
	}
}

func TestWithin(t *testing.T) {
	spans := []TimeSpan{{10, 20}, {20, 30}, {40, 50}}
	for at, want := range map[model.Time]bool{9: false, 10: true, 19: true, 20: true, 30: false, 39: false, 40: true, 49: true, 50: false} {
		if got := within(spans, at); got != want {
			t.Errorf("%d: %v", at, got)
		}
	}
	if within(nil, 5) {
		t.Error("in no span")
	}
}

func TestLightningSections(t *testing.T) {
	var out strings.Builder
	if err := LightningSections(&out, "fit", 0, []LightningSection{{"training_step", "table\n"}, {"backward", "other\n"}}); err != nil {
		t.Fatal(err)
	}
	want := "FIT Profiler Report\nProfile stats for: training_step rank: 0\ntable\n\nProfile stats for: backward rank: 0\nother\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}
