package cause

import (
	"testing"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestMeasuredClaims: a replay takes away as much of the operators as was measured, not as was guessed, before it says what the next
// finding saves; what was refuted takes nothing.
func TestMeasuredClaims(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Python(20, a), testkit.Native(80, a))
	account := analyse.StepBreakdown(p.S, p.P)
	c := NewFacts(p.S, account)
	const ms = 1e6
	for _, x := range []struct {
		measured Range
		left     float64
	}{{bounds(50*ms, 60*ms, 70*ms), 40}, {bounds(5*ms, 10*ms, 12*ms), 90}} {
		threads := Finding{Cause: Threads, Step: bounds(0, 30*ms, 70*ms), Run: bounds(0, 600*ms, 1400*ms), claim: map[analyse.PartID]float64{analyse.PartOps: 30 * 20 * ms}, guess: true}
		threads.measure(x.measured, x.measured.Scale(20))
		found := []Finding{threads}
		InOrder(found, c, replay.NewSession(p.S, account))
		if o := found[0].InOrder; o == nil || o.After/ms < x.left-1 || o.After/ms > x.left+1 {
			t.Errorf("%+v are left of a step of 100 ms, want %g", o, x.left)
		}
	}
	refuted := Finding{Cause: Threads, Step: bounds(0, 30*ms, 70*ms), claim: map[analyse.PartID]float64{analyse.PartOps: 30 * 20 * ms}}
	refuted.refuted()
	found := []Finding{{Cause: Python, Step: bounds(0, 20*ms, 20*ms), Run: bounds(0, 400*ms, 400*ms), claim: map[analyse.PartID]float64{analyse.PartPython: 400 * ms}}, refuted}
	InOrder(found, c, replay.NewSession(p.S, account))
	if found[0].InOrder == nil || found[1].InOrder != nil {
		t.Errorf("in order: %v, %v", found[0].InOrder, found[1].InOrder)
	}
}

// TestRefutedMakesRoom: what was too small to be said beside a guess is said again once a measurement refutes that.
func TestRefutedMakesRoom(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Python(20, a), testkit.Native(80, a))
	c := NewFacts(p.S, analyse.StepBreakdown(p.S, p.P))
	const ms = 1e6
	price := func(mid float64) Range { return bounds(0.8*mid*ms, mid*ms, mid*ms) }
	res := Result{Findings: []Finding{
		{Cause: Machine, Sub: "affinity", Step: price(98), Run: price(98).Scale(20), guess: true},
		{Cause: Python, Step: price(20), Run: price(20).Scale(20)},
	}}
	res.settle(c)
	if len(res.Findings) != 1 || res.Largest < 0.019 || res.Largest > 0.021 {
		t.Fatalf("%d findings, the largest other saves %g of the step; want one, and 0.02", len(res.Findings), res.Largest)
	}
	res.Findings[0].refuted()
	res.settle(c)
	if f := &res.Findings[0]; len(res.Findings) != 2 || f.Cause != Python || f.Step.Mid < 19.9*ms || f.Step.Mid > 20.1*ms || len(f.Evidence) > 0 {
		t.Errorf("%+v, want the interpreter's 20 ms, without a word on what others claim", res.Findings)
	}
}

// TestOnlyAPartKeepsItsOwnPrice: what is left of a guess is a part of its own price, not of what was left of it beside the others.
func TestOnlyAPartKeepsItsOwnPrice(t *testing.T) {
	f := Finding{Cause: Threads, Step: bounds(0, 40, 80), Run: bounds(0, 400, 800)}
	f.bare = &ownPrice{step: f.Step, run: f.Run}
	f.onlyPart(0.5, countedElsewhere)
	f.rest(0.5)
	if f.Step != (bounds(0, 20, 40)) || f.Run != (bounds(0, 200, 400)) || len(f.Evidence) > 0 {
		t.Errorf("%+v", f)
	}
}

// TestOneFindingFitsTheRun: where the accounted steps are longer than the others of the run, what one finding saves of them is no more than
// the run; it keeps its price per step, and shares it with no other.
func TestOneFindingFitsTheRun(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Python(100, a))
	c := NewFacts(p.S, analyse.StepBreakdown(p.S, p.P))
	c.Wall = 1500e6
	res := Result{Findings: []Finding{{Cause: Python, Step: bounds(50e6, 90e6, 95e6), Run: bounds(1000e6, 1800e6, 1900e6)}}}
	res.settle(c)
	if f := &res.Findings[0]; f.Run.Mid != c.Wall || f.Step.Mid != 90e6 || len(f.Evidence) > 0 {
		t.Errorf("%+v saves %g of %g", f, f.Run.Mid, c.Wall)
	}
}

// TestMeasuredAnother: lower precision is no price of a finding that asks for a higher one.
func TestMeasuredAnother(t *testing.T) {
	for _, of := range []string{Precision, Layout, Python, MemoryBound} {
		if fits := fixFor(&Finding{Cause: of}); fits != nil && (fits("bf16") || fits("threads=4")) {
			t.Errorf("%s is priced by another fix than its own", of)
		}
	}
}
