package ingest

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

const torchFiles = "/env/site-packages/torch/"

func calledAt(line int) []testkit.Frame {
	return []testkit.Frame{{File: "/home/u/ppo.py", Function: "main", First: 10, Line: line},
		{File: torchFiles + "nn/modules/module.py", Function: "Module._call_impl", First: 1, Line: 2},
		{File: torchFiles + "nn/modules/linear.py", Function: "Linear.forward", First: 1, Line: 3}}
}

func backward(line int) []testkit.Frame {
	return []testkit.Frame{{File: "/home/u/ppo.py", Function: "main", First: 10, Line: line},
		{File: torchFiles + "autograd/graph.py", Function: "_engine_run_backward", First: 1, Line: 9}}
}

// anUpdate is what a step does after what it holds.
func anUpdate() []testkit.Act {
	return []testkit.Act{testkit.Native(4, calledAt(30)...), testkit.Native(4, backward(31)...),
		testkit.Native(2, testkit.Frame{File: torchFiles + "optim/adam.py", Function: "Adam.step", First: 1, Line: 5})}
}

// A rollout that the first update's step holds is a step of its own kind; both sides keep their phase, and no time is lost.
func TestForwardStretchesAreSteps(t *testing.T) {
	p := testkit.NewProgram()
	step := testkit.Python(40, testkit.Frame{File: "/home/u/ppo.py", Function: "step", First: 50, Line: 51})
	for i := range 4 {
		rollout := []testkit.Act{testkit.Native(60, calledAt(20)...), step}
		if i == 3 { // no sample falls into a call of the model
			rollout = []testkit.Act{step, step, testkit.Python(20, step.Stack...)}
		}
		p.Steps(1, model.PhaseBaseline, append(rollout, anUpdate()...)...)
		p.Steps(7, model.PhaseBaseline, anUpdate()...)
	}
	start, end := p.P.Steps[0].Start, p.P.Steps[len(p.P.Steps)-1].End
	apartForward(p.P, p.S.Strings)
	forward, sum := 0, model.Dur(0)
	for _, st := range p.P.Steps {
		took := st.End.Sub(st.Start)
		sum += took
		switch kind := p.S.Strings.Text(st.Kind); {
		case kind == model.KindForward && took == 100e6 && st.Phase == model.PhaseBaseline:
			forward++
		case kind != "train" || took != 10e6:
			t.Errorf("a %s step of %.1f ms: want 100 ms of rollout and 10 ms of update", kind, took.Ms())
		}
	}
	if forward != 4 || len(p.P.Steps) != 36 || sum != end.Sub(start) {
		t.Errorf("%d of %d steps are rollouts, all steps take %.0f ms: want 4 of 36, %.0f ms", forward, len(p.P.Steps), sum.Ms(),
			end.Sub(start).Ms())
	}
}

// Long steps that are no stretch before an update stay whole.
func TestLongStepsStayWhole(t *testing.T) {
	log := testkit.Python(100, testkit.Frame{File: "/home/u/ppo.py", Function: "log", First: 70, Line: 71})
	for name, long := range map[string][]testkit.Act{
		"a log is written":       append([]testkit.Act{log}, anUpdate()...),
		"another model trains":   {testkit.Native(40, calledAt(40)...), testkit.Native(60, backward(41)...)},
		"the same line is slow":  append([]testkit.Act{testkit.Native(90, calledAt(30)...)}, anUpdate()...),
		"a model is asked after": append(anUpdate(), testkit.Native(90, calledAt(20)...)),
	} {
		p := testkit.NewProgram()
		for range 4 {
			p.Steps(1, model.PhaseBaseline, long...)
			p.Steps(7, model.PhaseBaseline, anUpdate()...)
		}
		if apartForward(p.P, p.S.Strings); len(p.P.Steps) != 32 {
			t.Errorf("%s: %d steps of 32", name, len(p.P.Steps))
		}
	}
}
