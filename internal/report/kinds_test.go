package report_test

import (
	"math"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
)

// Each kind of step has a table of its own, whose parts sum to its step.
func TestEachKindHasATable(t *testing.T) {
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	p := testkit.NewProgram()
	for range 5 {
		p.Steps(10, model.PhaseBaseline, testkit.Native(10, work))
		p.Steps(1, model.PhaseBaseline, testkit.Python(30, work), testkit.Native(20, work))
		p.P.Steps[len(p.P.Steps)-1].Kind = p.S.Strings.Intern(model.KindForward)
	}
	r := report.Build(p.S, report.Options{})
	if r.Account.Kind != "train" || len(r.Kinds) != 1 {
		t.Fatalf("the table is of %q steps, beside it %+v: want train and one other kind", r.Account.Kind, r.Kinds)
	}
	k, sum := r.Kinds[0], 0.0
	for _, part := range k.Parts {
		sum += part.Ms
		if part.Part == "Python" && math.Abs(part.Ms-30) > 1 {
			t.Errorf("Python takes %.1f ms of a forward step: want 30", part.Ms)
		}
	}
	if k.Kind != model.KindForward || k.Steps != 5 || math.Abs(k.TotalMs-50) > 0.1 || math.Abs(sum-k.TotalMs) > 0.01 {
		t.Errorf("%+v: want 5 forward steps of 50 ms, whose parts sum to it; they sum to %.2f", k, sum)
	}
}
