package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// metricProgram takes a number of ms for a metric in each of its steps, and one for its model, as functions of the step.
func metricProgram(steps int, metric, computed func(step int) int) *testkit.Program {
	p := testkit.NewProgram()
	for i := range steps {
		p.Steps(1, model.PhaseBaseline, testkit.Native(computed(i), module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(metric(i), module, loop(44), user("score", 10, 12)))
	}
	return p
}

func TestTimeThatGrows(t *testing.T) {
	even := func(int) int { return 30 }
	for _, c := range []struct {
		name   string
		metric func(int) int
		model  func(int) int
		grows  bool
	}{
		{"with all that was seen", func(i int) int { return i / 2 }, even, true},
		{"not", func(int) int { return 15 }, even, false},
		{"for a while", func(i int) int { return []int{5, 30, 5}[i/20] }, even, false},
		{"in few steps", func(i int) int { return i / 59 * 200 }, even, false},
		{"with the whole step", func(i int) int { return i / 2 }, func(i int) int { return i }, false},
		{"beside a step that grows less", func(i int) int { return i / 2 }, func(i int) int { return 20 + i/6 }, true},
	} {
		res, _ := find(t, metricProgram(60, c.metric, c.model))
		if res.Findings[0].Cause != finding.Python {
			t.Errorf("%s: first finding %+v", c.name, res.Findings[0])
			continue
		}
		said := false
		for _, e := range res.Findings[0].Evidence {
			said = said || e.ID == "growth.thirds"
		}
		if said != c.grows {
			t.Errorf("time that grows %s: said so is %v: %+v", c.name, said, res.Findings[0].Evidence)
		}
	}
}

// An array library's code is Python's, though indexing an array, which has no frame of its own, looks like an operator.
func TestArrayCodeCallsNoOperators(t *testing.T) {
	p := testkit.NewProgram()
	area := user("area", 10, 12)
	numpy := testkit.Frame{File: "/usr/lib/python3.13/site-packages/numpy/_core/fromnumeric.py", Function: "argsort", First: 1, Line: 5}
	p.Steps(30, model.PhaseBaseline, forward,
		testkit.Python(10, module, loop(44), area, numpy), testkit.Native(12, module, loop(44), area, numpy),
		testkit.Native(6, module, loop(44), user("area", 10, 14)))
	res, _ := find(t, p)
	want(t, res, finding.Python, "", 12, 22)
}
