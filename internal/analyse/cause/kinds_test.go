package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// trainedAndValidated is a training whose every epoch ends in validation steps of so many ms of Python each.
func trainedAndValidated(python int) *testkit.Program {
	p := testkit.NewProgram()
	for range 5 {
		p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40), torchFrame("nn/modules/linear.py", "forward")))
		first := len(p.P.Steps)
		p.Steps(40, model.PhaseBaseline, testkit.Native(5, module, loop(50), user("evaluate", 60, 63)),
			testkit.Python(python, module, loop(50), user("evaluate", 60, 63), user("iou", 70, 74)))
		for i := first; i < len(p.P.Steps); i++ {
			p.P.Steps[i].Kind = p.S.Strings.Intern("validation")
		}
	}
	return p
}

// Steps of another kind than the accounted one have findings of their own, priced over the run, which say of which step they are.
func TestStepsOfEachKindAreAccounted(t *testing.T) {
	res, b := find(t, trainedAndValidated(10))
	if got := b.Process.Steps[0].Kind; b.Kind != got {
		t.Fatalf("the training has most time, and is not accounted")
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Where.Line != 74 {
			continue
		}
		if f.Cause != finding.Python || !f.OfRun || !strings.Contains(f.Title.String(), "each validation step") ||
			!strings.Contains(f.Evidence[0].String(), "per validation step") {
			t.Errorf("%s: %q, %q: want Python in each validation step", f.Cause, f.Title, f.Evidence[0])
		}
		if f.Run.Mid < 1.7e9 || f.Run.Mid > 2.1e9 || f.Step.Mid != 0 {
			t.Errorf("saves %.2f s of the 2 s that 200 steps take there, and %.1f ms a step of the training", f.Run.Mid/1e9, f.Step.Mid/1e6)
		}
		return
	}
	t.Errorf("found %+v, want the metric at line 74", res.Findings)
}

// A few short steps of another kind are not worth an account.
func TestFewStepsOfAKindAreLeft(t *testing.T) {
	res, _ := find(t, trainedAndValidated(0))
	for i := range res.Findings {
		if f := &res.Findings[i]; f.OfRun {
			t.Errorf("%q is said of steps that only compute", f.Title)
		}
	}
}

// A line that runs in steps of two kinds is one finding: its change saves both.
func TestALineInStepsOfTwoKinds(t *testing.T) {
	p := testkit.NewProgram()
	cut := testkit.Python(15, module, loop(50), user("cut", 60, 63))
	for range 5 {
		p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40), torchFrame("nn/modules/linear.py", "forward")), cut)
		first := len(p.P.Steps)
		p.Steps(40, model.PhaseBaseline, testkit.Native(5, module, loop(50)), cut)
		for i := first; i < len(p.P.Steps); i++ {
			p.P.Steps[i].Kind = p.S.Strings.Intern("validation")
		}
	}
	res, _ := find(t, p)
	var at []*finding.Finding
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Where.Line == 63 {
			at = append(at, f)
		}
	}
	if len(at) != 1 {
		t.Fatalf("%d findings at the line, want 1: %+v", len(at), res.Findings)
	}
	f := at[0]
	step, run := f.Step.Mid/1e6, f.Run.Mid/1e9
	if step < 13 || step > 16 || run < 4.2 || run > 4.8 || !strings.Contains(textOf(f.Evidence, "kinds.too"), "validation steps") {
		t.Errorf("saves %.1f of 15 ms a step, %.2f of the 4.5 s that 100 and 200 steps take there: %+v", step, run, f.Evidence)
	}
}
