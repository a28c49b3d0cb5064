package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// validationRounds is a training of 64 steps of 100 ms, in epochs of so many batches, with a round of four validation steps of 100 ms after
// every few.
func validationRounds(every int, batches int64) *testkit.Program {
	return roundsWith(every, batches, 0)
}

// roundsWith is the same with so many ms of each validation step in a function of Python's.
func roundsWith(every int, batches int64, python int) *testkit.Program {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Length: batches, BatchSize: 32}, {Length: 4, BatchSize: 32}}
	validation := p.S.Strings.Intern("validation")
	for range 64 / every {
		p.Steps(every, model.PhaseBaseline, testkit.Python(1, module, loop(39), next, fetch).In(model.SpanDataWait),
			testkit.Native(99, module, loop(40), torchFrame("nn/modules/module.py", "Module._call_impl")))
		first := len(p.P.Steps)
		p.Steps(4, model.PhaseBaseline, testkit.Native(100-python, module, loop(50),
			torchFrame("nn/modules/module.py", "Module._call_impl")),
			testkit.Python(python, module, loop(51), user("iou", 70, 74)))
		for i := range p.P.Steps[first:] {
			p.P.Steps[first+i].Kind = validation
		}
	}
	return p
}

// Validation in the middle of epochs is named at its line, with what one round an epoch would save; one an epoch is as it should be, and
// where an epoch's length is not known, nothing is said.
func TestValidationManyTimesAnEpoch(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   int
		batches int64
		seconds float64 // 0: no finding
	}{
		{"eight times an epoch", 8, 64, 2.8 * 0.95},
		{"eight times in half an epoch", 8, 128, 2.8 * 0.95},
		{"twice in a tenth of an epoch", 32, 640, 0},
		{"once an epoch", 8, 8, 0},
		{"no loader's length", 8, -1, 0},
	} {
		p, line := validationRounds(c.every, c.batches), 50
		if c.batches == 128 {
			line = 2
			p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: []string{"a = 1", "t = Trainer(eval_steps=8)"}}
		}
		res, _ := find(t, p)
		var f *finding.Finding
		for i := range res.Findings {
			if res.Findings[i].Sub == "validation" {
				f = &res.Findings[i]
			}
		}
		if (f != nil) != (c.seconds > 0) {
			t.Errorf("%s: %+v", c.name, res.Findings)
			continue
		}
		if f != nil && (f.Where.Line != line || f.Run.Mid < (c.seconds-0.01)*1e9 || f.Run.Mid > (c.seconds+0.01)*1e9 || !f.OfRun) {
			t.Errorf("%s: line %d, %+v, want %g s", c.name, f.Where.Line, f.Run, c.seconds)
		}
	}
}

// Rounds of which there may be fewer are priced without what another finding saves in their steps, which comes first.
func TestRoundsAreCheaperOnceTheirStepsAre(t *testing.T) {
	res, _ := find(t, roundsWith(8, 64, 60))
	if len(res.Findings) < 2 || res.Findings[0].Cause != finding.Python || res.Findings[1].Sub != "validation" {
		t.Fatalf("%+v", res.Findings)
	}
	f, saved := &res.Findings[1], res.Findings[0].Run.Mid/3.2e9
	if want := 2.8e9 * 0.95 * (1 - saved); saved < 0.3 || f.Run.Mid < 0.98*want || f.Run.Mid > 1.02*want {
		t.Errorf("saves %.2f s, where %.2f of the rounds goes by another finding", f.Run.Mid/1e9, saved)
	}
}
