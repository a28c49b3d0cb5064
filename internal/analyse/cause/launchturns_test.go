package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// evaluation is a metric that goes through a batch's answers one by one.
const evaluation = `def evaluate(model, table):
    for x, y in data:
        guess = model(x)
        for t, p in zip(y, guess):
            table[t.long(), p.long()] += 1
`

// TestLoopThatNoTraceHolds: a loop over the answers of an evaluation of which no trace tells the operators is named from samples. A loop
// from batch to batch is not, nor one that computes long, nor one that steps an environment.
func TestLoopThatNoTraceHolds(t *testing.T) {
	const file = "/home/u/metric.py"
	at := func(line int) testkit.Frame {
		return testkit.Frame{File: file, Function: "evaluate", First: 1, Line: line}
	}
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	env := testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/wrappers/common.py", Function: "TimeLimit.step", First: 1, Line: 9}
	for name, c := range map[string]struct {
		line           int
		python, native int // ms of a step there
		with           []testkit.Frame
		change         [2]string
		low            bool // something is sure to be saved
		advice         string
	}{
		"counts": {5, 24, 16, nil, [2]string{}, true, "launch.fix-counts"},
		"asks":   {5, 24, 16, nil, [2]string{"table[t.long(), p.long()] += 1", "best = topk(t, p)"}, false, "launch.fix-between"},
		"in an expression": {5, 24, 16, nil, [2]string{"table[t.long(), p.long()] += 1", "best = [near(q) for q in p]"}, false,
			"launch.fix-between"},
		"iterates":       {4, 24, 16, nil, [2]string{}, false, "launch.fix-between"},
		"computes":       {5, 2, 38, nil, [2]string{}, false, ""},
		"from batch":     {3, 24, 16, []testkit.Frame{call}, [2]string{}, false, ""},
		"an environment": {5, 24, 16, []testkit.Frame{env}, [2]string{}, false, ""},
	} {
		p := testkit.NewProgram()
		lines := strings.Split(evaluation, "\n")
		if c.change[0] != "" {
			lines = strings.Split(strings.Replace(evaluation, c.change[0], c.change[1], 1), "\n")
		}
		p.S.Sources[file] = &model.Source{Path: file, Lines: lines}
		there := append([]testkit.Frame{module, loop(44), at(c.line)}, c.with...)
		for range 10 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40), call))
			first := len(p.P.Steps)
			p.Steps(4, model.PhaseBaseline, testkit.Native(60, module, loop(44), at(3), call), testkit.Python(c.python, there...),
				testkit.Native(c.native, there...))
			for i := first; i < len(p.P.Steps); i++ {
				p.P.Steps[i].Kind = p.S.Strings.Intern("forward")
			}
		}
		res, _ := find(t, p)
		var got *finding.Finding
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Title.ID == "launch.title" && f.OfRun {
				got = f
			}
		}
		if (got != nil) != (c.advice != "") {
			t.Errorf("%s: %+v", name, res.Findings)
			continue
		}
		if got == nil {
			continue
		}
		if got.Where.Line != c.line || got.Fix.Advice[0].ID != c.advice || (got.Run.Low > 0) != c.low || got.Run.Mid < 1.2e9 ||
			got.Run.High > 1.9e9 {
			t.Errorf("%s: line %d, %s, saves %.2f s (%.2f to %.2f) of 1.6", name, got.Where.Line, got.Fix.Advice[0].ID, got.Run.Mid/1e9,
				got.Run.Low/1e9, got.Run.High/1e9)
		}
	}
}
