package page

import (
	"bottleneck/internal/report"
	"math"
	"testing"
)

// TestDifference compares trees whose processes have other ids: boxes find their time before by names alone, brought to as many steps.
func TestDifference(t *testing.T) {
	grow := func(pid string, times map[string]float64) *tree {
		tr := newTree("all")
		for name, ns := range times {
			node := tr.child(tr.child(0, frame{name: "worker 0 (pid " + pid + ")"}), frame{name, name + ".py:3"})
			tr.nodes[node].self += ns
		}
		tr.sum()
		return tr
	}
	now, then := grow("7", map[string]float64{"read": 4e6, "new": 1e6}), grow("123", map[string]float64{"read": 6e6, "gone": 2e6})
	second := then.child(0, frame{name: "worker 0 (pid 124)"}) // the same worker of a later epoch
	then.nodes[then.child(second, frame{"read", "read.py:9"})].self = 2e6
	then.sum()
	d := &report.Diff{Per: "step", Before: report.DiffSide{Runs: []report.DiffRun{{Count: 20}}},
		After: report.DiffSide{Runs: []report.DiffRun{{Count: 10}}}}
	f := difference(now, then, d, "x")
	want := map[string][2]float64{"all": {5000, 5000}, "worker 0": {5000, 5000}, "read": {4000, 3000}, "new": {1000, 0}}
	for i := range f.Frame {
		name := f.Names[f.Frame[i]]
		if w, known := want[name]; !known || math.Abs(f.Total[i]-w[0]) > 1e-6 || math.Abs(f.Before[i]-w[1]) > 1e-6 {
			t.Errorf("%q takes %g µs, before %g; want %v", name, f.Total[i], f.Before[i], w)
		}
	}
	if len(f.Frame) != len(want) || difference(now, nil, d, "x") != nil {
		t.Errorf("%d boxes, want %d", len(f.Frame), len(want))
	}
}
