package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// Programs whose processor meets denormal numbers all the time are named, with a change that can be made and no promise that it saves; not
// where few looks found some, or nobody looked, nor where little is computed.
func TestDenormalNumbers(t *testing.T) {
	for _, c := range []struct {
		name       string
		looks, met float64
		compute    int // ms of a step
		named      bool
	}{
		{"all looks", 40, 40, 60, true}, {"most looks", 40, 30, 60, true}, {"few looks found some", 40, 3, 60, false},
		{"looked at twice", 2, 2, 60, false}, {"nobody looked", 0, 0, 60, false}, {"waits for most of the time", 40, 40, 8, false},
	} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, testkit.Native(c.compute, module, loop(40), torchFrame("nn/modules/conv.py", "forward")),
			testkit.Blocked(60, loop(41),
				testkit.Frame{File: "/usr/lib/python3.13/threading.py", Function: "join", First: 1000, Line: 1010}))
		p.P.Counters = map[string]float64{"denormal_looks": c.looks, "denormal_met": c.met}
		res, _ := find(t, p)
		named := false
		for i := range res.Findings {
			f := &res.Findings[i]
			if f.Cause != finding.Precision {
				continue
			}
			named = true
			if f.Sub != "denormal" || f.Where.Line != 40 || f.Step.Low != 0 || f.Step.Mid <= 0 || f.Fix.Action.Kind != finding.InsertLine {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if named != c.named {
			t.Errorf("%s: named %v, want %v", c.name, named, c.named)
		}
	}
}

// A program that was looked at once, at its end, and had met such numbers is told of a change that was not tried.
func TestDenormalNumbersSomewhere(t *testing.T) {
	for met, want := range map[float64]bool{1: true, 0: false} {
		p := testkit.NewProgram()
		p.Do(testkit.Native(3000, loop(40), torchFrame("nn/modules/conv.py", "forward")))
		p.P.Counters = map[string]float64{"denormal_looks": 1, "denormal_met": met}
		res, acc := find(t, p)
		told := slices.ContainsFunc(res.Untried(facts.NewFacts(p.S, acc), nil).Others, func(text wording.Text) bool {
			return text.ID == "measured.untried-denormal"
		})
		if told != want || slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Precision }) {
			t.Errorf("met %v: told %v, want %v; %+v", met, told, want, res.Findings)
		}
	}
}
