package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A function that is slow in the steps is slow in the evaluations between them, too: what its change saves of the run holds both, once.
func TestSavingsOfTheRunHoldWhatIsOutsideOfSteps(t *testing.T) {
	for name, c := range map[string]struct {
		act   testkit.Act
		times int
		more  float64 // ns that the run saves beyond the steps
	}{
		"in validation steps": {testkit.Python(300, module, loop(46), user("batch", 60, 64)), 3, 0.95 * 900e6},
		"another function":    {testkit.Python(300, module, loop(46), user("metrics", 80, 84)), 3, 0},
		"too short":           {testkit.Python(20, module, loop(46), user("batch", 60, 64)), 3, 0},
	} {
		p := testkit.NewProgram()
		validation := p.S.Strings.Intern("validation")
		for range c.times {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)),
				testkit.Python(50, module, loop(41), user("batch", 60, 64)))
			at := len(p.P.Steps)
			p.Steps(1, model.PhaseBaseline, c.act)
			p.P.Steps[at].Kind = validation
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Python, "", 64, 0)
		if got := f.Run.Mid - 60*f.Step.Mid; got < 0.85*c.more || got > 1.2*c.more+1 {
			t.Errorf("%s: the run saves %v beyond its steps, want %v; %+v", name, got, c.more, f.Evidence)
		}
	}
}
