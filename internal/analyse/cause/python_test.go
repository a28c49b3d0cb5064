package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// A function that two parts of the loop call is one place: what makes it faster does so for both callers, and one finding has all of its
// time.
func TestFunctionOfSeveralCallersIsOneFinding(t *testing.T) {
	p := testkit.NewProgram()
	parse := user("parse", 20, 23)
	fit, choose := user("fit_round", 40, 44), user("select", 60, 63)
	for range 30 {
		p.Steps(1, model.PhaseBaseline,
			testkit.Native(30, module, user("fit_round", 40, 46), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(12, module, fit, user("rows", 30, 33), parse),
			testkit.Python(6, module, fit, user("rows", 30, 33), user("parse", 20, 24)),
			testkit.Python(9, module, choose, user("rows", 30, 33), parse))
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Python, "", 23, 27)
	if !strings.HasPrefix(f.Title.String(), "47 % of each step") {
		t.Errorf("title %q", f.Title)
	}
	for _, other := range res.Findings[1:] {
		if !other.Healthy {
			t.Errorf("claims the function again: %s: %s", other.Cause, other.Title)
		}
	}
}

// Lines of the function that drives the loop are other parts of the step: its other lines stay findings of their own.
func TestLinesOfTheDriverStayApart(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(30, model.PhaseBaseline, forward, testkit.Python(20, module, loop(44)), testkit.Python(15, module, loop(52)))
	res, _ := find(t, p)
	want(t, res, finding.Python, "", 44, 20)
	if len(res.Findings) < 2 || res.Findings[1].Where.Line != 52 {
		t.Errorf("the second line is no finding: %+v", res.Findings)
	}
}
