package cause

import (
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
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
	acc := account.Of(p.S, p.P)
	c := facts.NewFacts(p.S, acc)
	const ms = 1e6
	for _, x := range []struct {
		measured finding.Range
		left     float64
	}{{finding.Bounds(50*ms, 60*ms, 70*ms), 40}, {finding.Bounds(5*ms, 10*ms, 12*ms), 90}} {
		threads := finding.Finding{Cause: finding.Threads, Step: finding.Bounds(0, 30*ms, 70*ms), Run: finding.Bounds(0, 600*ms, 1400*ms),
			Booked: map[account.PartID]float64{account.PartOps: 30 * 20 * ms}, Guess: true}
		measure(&threads, x.measured, x.measured.Scale(20))
		found := []finding.Finding{threads}
		InOrder(found, c, replay.NewSession(p.S, acc))
		if o := found[0].InOrder; o == nil || o.After/ms < x.left-1 || o.After/ms > x.left+1 {
			t.Errorf("%+v are left of a step of 100 ms, want %g", o, x.left)
		}
	}
	refuted := finding.Finding{Cause: finding.Threads, Step: finding.Bounds(0, 30*ms, 70*ms),
		Booked: map[account.PartID]float64{account.PartOps: 30 * 20 * ms}}
	asRefuted(&refuted)
	found := []finding.Finding{
		{Cause: finding.Python, Step: finding.Bounds(0, 20*ms, 20*ms), Run: finding.Bounds(0, 400*ms, 400*ms),
			Booked: map[account.PartID]float64{account.PartPython: 400 * ms}}, refuted,
	}
	InOrder(found, c, replay.NewSession(p.S, acc))
	if found[0].InOrder == nil || found[1].InOrder != nil {
		t.Errorf("in order: %v, %v", found[0].InOrder, found[1].InOrder)
	}
}

// TestPagesAreTakenThroughout: memory that all operators take is less to save once another fix has ended most of them.
func TestPagesAreTakenThroughout(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, testkit.Native(100, testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}))
	acc := account.Of(p.S, p.P)
	c := facts.NewFacts(p.S, acc)
	const ms = 1e6
	of := func(step float64) finding.Finding {
		return finding.Finding{Cause: finding.Machine, Step: finding.Bounds(0, step*ms, step*ms),
			Run: finding.Bounds(0, 20*step*ms, 20*step*ms), Booked: map[account.PartID]float64{account.PartOps: 20 * step * ms}}
	}
	for throughout, want := range map[bool]float64{false: 20, true: 5} {
		found := []finding.Finding{of(75), of(20)}
		found[1].Throughout = throughout
		InOrder(found, c, replay.NewSession(p.S, acc))
		if o := found[1].InOrder; o == nil || o.Step/ms < want-1 || o.Step/ms > want+1 {
			t.Errorf("throughout %v: %+v, want %g ms", throughout, o, want)
		}
	}
}

// TestRefutedMakesRoom: what was too small to be said beside a guess is said again once a measurement refutes that.
func TestRefutedMakesRoom(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Python(20, a), testkit.Native(80, a))
	c := facts.NewFacts(p.S, account.Of(p.S, p.P))
	const ms = 1e6
	price := func(mid float64) finding.Range { return finding.Bounds(0.8*mid*ms, mid*ms, mid*ms) }
	res := Result{Findings: []finding.Finding{
		{Cause: finding.Machine, Sub: "affinity", Step: price(98), Run: price(98).Scale(20), Guess: true},
		{Cause: finding.Python, Step: price(20), Run: price(20).Scale(20)},
	}}
	res.settle(c)
	if len(res.Findings) != 1 || res.Largest < 0.019 || res.Largest > 0.021 {
		t.Fatalf("%d findings, the largest other saves %g of the step; want one, and 0.02", len(res.Findings), res.Largest)
	}
	asRefuted(&res.Findings[0])
	res.settle(c)
	if f := &res.Findings[0]; len(res.Findings) != 2 || f.Cause != finding.Python || f.Step.Mid < 19.9*ms || f.Step.Mid > 20.1*ms ||
		len(f.Evidence) > 0 {
		t.Errorf("%+v, want the interpreter's 20 ms, without a word on what others claim", res.Findings)
	}
}

// TestOnlyAPartKeepsItsOwnPrice: what is left of a guess is a part of its own price, not of what was left of it beside the others.
func TestOnlyAPartKeepsItsOwnPrice(t *testing.T) {
	f := finding.Finding{Cause: finding.Threads, Step: finding.Bounds(0, 40, 80), Run: finding.Bounds(0, 400, 800)}
	f.Bare = &finding.OwnPrice{Step: f.Step, Run: f.Run}
	f.OnlyPart(0.5, finding.CountedElsewhere)
	rest(&f, 0.5)
	if f.Step != (finding.Bounds(0, 20, 40)) || f.Run != (finding.Bounds(0, 200, 400)) || len(f.Evidence) > 0 {
		t.Errorf("%+v", f)
	}
}

// TestOneFindingFitsTheRun: where the accounted steps are longer than the others of the run, what one finding saves of them is no more than
// the run; it keeps its price per step, and shares it with no other.
func TestOneFindingFitsTheRun(t *testing.T) {
	p := testkit.NewProgram()
	a := testkit.Frame{File: "/app/train.py", Function: "slow", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Python(100, a))
	c := facts.NewFacts(p.S, account.Of(p.S, p.P))
	c.Wall = 1500e6
	res := Result{
		Findings: []finding.Finding{
			{Cause: finding.Python, Step: finding.Bounds(50e6, 90e6, 95e6), Run: finding.Bounds(1000e6, 1800e6, 1900e6)},
		},
	}
	res.settle(c)
	if f := &res.Findings[0]; f.Run.Mid != c.Wall || f.Step.Mid != 90e6 || len(f.Evidence) > 0 {
		t.Errorf("%+v saves %g of %g", f, f.Run.Mid, c.Wall)
	}
}

// TestMeasuredAnother: lower precision is no price of a finding that asks for a higher one.
func TestMeasuredAnother(t *testing.T) {
	for _, of := range []string{finding.Precision, finding.Layout, finding.Python, finding.MemoryBound} {
		if fits := fixFor(&finding.Finding{Cause: of}); fits != nil && (fits("bf16") || fits("threads=4")) {
			t.Errorf("%s is priced by another fix than its own", of)
		}
	}
}
