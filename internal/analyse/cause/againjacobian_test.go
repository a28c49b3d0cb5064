package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// differentiates is a program of 40 steps of 100 ms, in each of which one line computes a Jacobian: its function is called for 2 ms, and
// what goes backward takes 58.
func differentiates(outputs, inputs int64, byRow bool) *testkit.Program {
	p := testkit.NewProgram()
	p.Steps(40, model.PhaseBaseline, testkit.Native(60, module, loop(40)), testkit.Python(40, module, loop(50)))
	for i := range p.P.Steps {
		start := p.P.Steps[i].Start
		j := model.Jacobian{Start: start, Backward: start + 2e6, End: start + 60e6, Outputs: outputs, Inputs: inputs, ByRow: byRow,
			File: p.S.Strings.Intern("/home/u/train.py"), Line: 40}
		if byRow {
			j.Backward = start
		}
		p.P.Jacobians = append(p.P.Jacobians, j)
	}
	return p
}

func jacobian(t *testing.T, p *testkit.Program) *finding.Finding {
	t.Helper()
	res, _ := find(t, p)
	i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "jacobian" })
	if i < 0 {
		return nil
	}
	return &res.Findings[i]
}

// A Jacobian of many rows is named at its line, with what going forward, or all rows at once, would save of it; not one of few rows, nor
// one whose function takes as many numbers, or is so small that going forward costs as much.
func TestJacobiansOfManyRows(t *testing.T) {
	for name, c := range map[string]struct {
		outputs, inputs int64
		byRow           bool
		ms              float64 // per step, 0: no finding
	}{
		"many for few":         {600, 6, false, 60 - 58*0.01 - 7*2},
		"twice as many":        {128, 64, false, 60 - 58*0.5 - 7*2},
		"as many":              {64, 64, false, 0},
		"fewer":                {1, 64, false, 0},
		"row by row":           {40, 6, true, 60 * 0.88},
		"row by row, for many": {40, 600, true, 60 * 0.88},
		"few rows":             {4, 2, true, 0},
	} {
		f := jacobian(t, differentiates(c.outputs, c.inputs, c.byRow))
		if (f != nil) != (c.ms > 0) {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		if f != nil && (f.Where.Line != 40 || f.OfRun || f.Step.Mid < 0.95e6*c.ms || f.Step.Mid > 1.05e6*c.ms ||
			f.Run.Mid < 40*0.95e6*c.ms) {
			t.Errorf("%s: line %d, %+v a step, %+v of the run, want %v ms", name, f.Where.Line, f.Step, f.Run, c.ms)
		}
	}
	small := differentiates(600, 6, false)
	for i := range small.P.Jacobians {
		small.P.Jacobians[i].Backward += 20e6
	}
	if f := jacobian(t, small); f != nil {
		t.Errorf("calls that take longer than going backward: %+v", f)
	}
	unknown := differentiates(600, 6, false)
	for i := range unknown.P.Jacobians {
		unknown.P.Jacobians[i].Backward = unknown.P.Jacobians[i].Start
	}
	if f := jacobian(t, unknown); f != nil {
		t.Errorf("nothing is known of the calls: %+v", f)
	}
}

// Jacobians outside of steps are priced over the run; of more than the agent tells, those of the steps that it has told of stand for all.
func TestJacobiansOutsideOfStepsAndBeyondWhatIsTold(t *testing.T) {
	p := differentiates(600, 6, false)
	shift := p.P.Steps[len(p.P.Steps)-1].End - p.P.Steps[0].Start
	p.Steps(1, model.PhaseWarmup, testkit.Native(6000, module, loop(60)))
	for i := range p.P.Jacobians {
		j := &p.P.Jacobians[i]
		j.Start, j.Backward, j.End = j.Start+shift, j.Backward+shift, j.End+shift
	}
	if f := jacobian(t, p); f == nil || !f.OfRun || f.Run.Mid < 1.7e9 || f.Run.Mid > 1.9e9 {
		t.Errorf("%+v", f)
	}
	p = differentiates(600, 6, false)
	all := p.P.Jacobians
	p.P.Jacobians = nil
	for _, j := range all[:20] { // half of the steps have all rows that are told
		p.P.Jacobians = append(p.P.Jacobians, j)
		for range 26 {
			p.P.Jacobians = append(p.P.Jacobians, model.Jacobian{Start: j.End, Backward: j.End, End: j.End, Outputs: 1, Inputs: 1})
		}
	}
	if f := jacobian(t, p); f == nil || f.Share < 0.5 || f.Share > 0.65 {
		t.Errorf("%+v", f)
	}
}
