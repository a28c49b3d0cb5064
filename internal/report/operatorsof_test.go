package report_test

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
)

// longSteps is a program of six steps whose windows lie before them, in the second one, and in predictions after the last.
func longSteps(second model.PhaseKind) *testkit.Program {
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	p := testkit.NewProgram()
	traced := func(at model.Time, name string) {
		t := &model.Trace{Process: 0, Window: len(p.P.Windows), Rank: model.NoRank, From: at, To: at + 10e6,
			Lanes: []model.Lane{{Kind: model.LaneThread}}}
		p.Event(&t.Events, at+1e6, 5e6, name, model.KindOp, model.NoEvent, -1)
		p.P.Windows = append(p.P.Windows, model.Window{Number: t.Window, Phase: model.PhaseTrace, Start: at, End: at + 10e6})
		p.S.Traces = append(p.S.Traces, t)
	}
	traced(p.T, "aten::uniform_")
	p.Do(testkit.Native(50, work))
	p.Steps(1, model.PhaseWarmup, testkit.Native(900, work))
	traced(p.T, "aten::addmm")
	p.Steps(1, second, testkit.Native(900, work))
	p.Steps(4, model.PhaseBaseline, testkit.Native(900, work))
	traced(p.T, "aten::argmax")
	p.Do(testkit.Native(50, work))
	return p
}

// Where no step was traced whole, the operators are those within a step, and the table says so: what came before the steps and after
// them is not laid on top.
func TestOperatorsOfLongSteps(t *testing.T) {
	r := report.Build(longSteps(model.PhaseEdge).S, report.Options{})
	want := "of a part of a step, none was traced whole"
	if len(r.KeyAverages) != 1 || r.KeyAverages[0].Name != "aten::addmm" || r.KeyAveragesOf != want {
		t.Errorf("operators %+v %q: want addmm alone, of a part of a step", r.KeyAverages, r.KeyAveragesOf)
	}
	r = report.Build(longSteps(model.PhaseTrace).S, report.Options{})
	if len(r.KeyAverages) != 3 || r.KeyAveragesOf != "" {
		t.Errorf("operators %+v %q: want those of all windows, as ever, where a step was traced", r.KeyAverages, r.KeyAveragesOf)
	}
}
