package report

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Steps that have no entry count, and so does their time.
func TestSkippedStepsCount(t *testing.T) {
	program := testkit.NewProgram()
	s := program.S
	s.Run = &model.Run{Start: 1e9, End: 20e9}
	kind := s.Strings.Intern("inference")
	step := func(number int64, start, end model.Time, skipped int64) model.Step {
		return model.Step{Number: number, Kind: kind, Phase: model.PhaseBaseline, Start: start, End: end, Skipped: skipped, Thread: 1}
	}
	program.P.Steps = []model.Step{step(0, 2e9, 3e9, 0), step(1, 3e9, 4e9, 9), step(11, 13e9, 14e9, 0)}
	b := &Builder{S: s, R: &Report{}}
	b.run()
	b.steps()
	if k := b.R.Steps; len(k) != 1 || k[0].Count != 12 || k[0].TotalS != 12 || k[0].Baseline.Count != 3 {
		t.Errorf("steps: %+v", k)
	}
	if p := b.R.Run.Phases; len(p) != 3 || p[1].Steps != 12 || p[1].FromS != 1 || p[1].ToS != 13 {
		t.Errorf("phases: %+v", p)
	}
}
