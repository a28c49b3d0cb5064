package cause

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestSavingsInOrder: two findings that claim disjoint Python time save the same one after the other as each alone.
func TestSavingsInOrder(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	b := testkit.Frame{File: "/app/train.py", Function: "slower", First: 10, Line: 15}
	p.Steps(20, model.PhaseBaseline, testkit.Python(30, a), testkit.Python(50, b), testkit.Native(20, a))
	acc := account.Of(p.S, p.P)
	c := facts.NewFacts(p.S, acc)
	const ms = 1e6
	python := func(each float64) map[account.PartID]float64 {
		return map[account.PartID]float64{account.PartPython: each * 20 * ms}
	}
	found := []finding.Finding{{Cause: finding.Python, Step: finding.Bounds(0, 45*ms, 50*ms), Booked: python(50)},
		{Cause: finding.Python, Step: finding.Bounds(0, 27*ms, 30*ms), Booked: python(30)}, {Cause: finding.Compute, Healthy: true}}
	InOrder(found, c, replay.NewSession(p.S, acc))
	for i, want := range []float64{45, 27} {
		if found[i].InOrder == nil || math.Abs(found[i].InOrder.Step/ms-want) > 1 {
			t.Errorf("finding %d: %+v, want %g ms a step", i, found[i].InOrder, want)
		}
	}
	if o := found[1].InOrder; o == nil || math.Abs(o.After/ms-28) > 1 {
		t.Errorf("left %+v, want 28 ms", o)
	}
	if found[2].InOrder != nil {
		t.Error("a healthy statement saves nothing")
	}
	// Behind a finding of which no replay knows what fixing it leaves, nothing is known of what others save after it; one that happens
	// once in a run changes no step.
	once := finding.Finding{Cause: finding.Warmup, OfRun: true, Run: finding.Bounds(0, 300*ms, 400*ms)}
	unknown := finding.Finding{Cause: finding.Threads, Step: finding.Bounds(0, 40*ms, 90*ms), Run: finding.Bounds(0, 800*ms, 1800*ms)}
	slow, slower := finding.Finding{Cause: finding.Python, Step: finding.Bounds(0, 45*ms, 50*ms), Booked: python(50)},
		finding.Finding{Cause: finding.Python, Step: finding.Bounds(0, 27*ms, 30*ms), Booked: python(30)}
	found = []finding.Finding{once, slow, unknown, slower}
	InOrder(found, c, replay.NewSession(p.S, acc))
	if found[0].InOrder != nil || found[1].InOrder == nil || found[2].InOrder != nil || found[3].InOrder != nil {
		t.Errorf("in order: %v, %v, %v, %v", found[0].InOrder, found[1].InOrder, found[2].InOrder, found[3].InOrder)
	}
}
