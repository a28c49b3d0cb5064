package cause_test

import (
	"strconv"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// asks puts looks at calls of models into a program: in each of 16 steps one at line 40 by what trained says, and one at line 44 by what
// beside says; both are given the number of the step. An input of 0 is one that cannot be told.
func asks(p *testkit.Program, trained, beside func(step int64) (module, input, weights int64, random bool)) *testkit.Program {
	for step := range int64(16) {
		for i, look := range []func(int64) (int64, int64, int64, bool){trained, beside} {
			line := []int{40, 44}[i]
			number, input, weights, random := look(step)
			q := model.Asked{Time: model.Time(2*step + int64(i)), Module: number, Weights: weights, Random: random, Line: int32(line),
				File: p.S.Strings.Intern(loop(line).File)}
			if input > 0 {
				q.Inputs = p.S.Strings.Intern("#" + strconv.FormatInt(input, 10))
			}
			p.P.Asked = append(p.P.Asked, q)
		}
	}
	return p
}

// A model that is asked for what it has answered already is named, where the tensors are the same and the answer is not one of other
// weights that somebody learns from.
func TestAskedForTheSameAgain(t *testing.T) {
	type looks func(step int64) (module, input, weights int64, random bool)
	by := func(module, input, weights int64, moves, random bool) looks {
		return func(step int64) (int64, int64, int64, bool) {
			if moves {
				weights = step
			}
			if input == 0 {
				return module, 0, weights, random
			}
			return module, input + step, weights, random
		}
	}
	always := func(module, weights int64, random bool) looks {
		return func(step int64) (int64, int64, int64, bool) { return module, 100 * module, weights * step, random }
	}
	trained := by(1, 1, 0, true, false)
	updated := looks(func(step int64) (int64, int64, int64, bool) { return 1, 1 + step, step + 1, false })
	for _, c := range []struct {
		name            string
		trained, beside looks
		batches         int64
		learnt          bool // gradients go through what line 44 calls
		sub             string
		line            int
		caveat          bool
	}{
		{"an accuracy after the update", trained, updated, -1, false, "twice", 44, true},
		{"an accuracy before the update", trained, trained, -1, false, "twice", 44, false},
		{"a second loss with other weights", trained, updated, -1, true, "", 0, false},
		{"a second loss with the same weights", trained, trained, -1, true, "twice", 44, false},
		{"a second loss with another dropout", trained, by(1, 1, 0, true, true), -1, true, "", 0, false},
		{"another model", trained, by(2, 1, 0, false, false), -1, false, "", 0, false},
		{"a network that does not change", trained, always(2, 0, false), -1, false, "same", 44, false},
		{"one that draws numbers", trained, always(2, 0, true), -1, false, "", 0, false},
		{"the trained one, for what cannot be told", trained, by(1, 0, 0, true, false), 8, false, "", 0, false},
		{"a frozen one, for what cannot be told", trained, by(2, 0, 5, false, false), 8, false, "frozen", 44, false},
		{"the whole data, for an accuracy", always(1, 1, false), always(2, 1, false), -1, false, "", 0, false},
		{"the whole data, through which gradients go", always(1, 1, false), always(2, 1, false), -1, true, "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, asks(frozen(c.batches, "aten::conv2d", c.learnt), c.trained, c.beside))
			f := res.Findings[0]
			if c.sub == "" {
				if f.Cause == finding.Again {
					t.Errorf("%s, %+v", f.Title, f.Where)
				}
				return
			}
			if f.Cause != finding.Again || f.Sub != c.sub || f.Where.Line != c.line {
				t.Fatalf("%s/%s at line %d", f.Cause, f.Sub, f.Where.Line)
			}
			if ms := f.Step.Mid / 1e6; c.sub != "frozen" && (ms < 37 || ms > 43 || f.Step.Low <= 0) {
				t.Errorf("saves %+v", f.Step)
			}
			if got := textOf(f.Caveat, "again.caveat-updated") != ""; got != c.caveat {
				t.Errorf("it is said that weights have moved: %v", got)
			}
		})
	}
}

// What a model that learns computes of tensors that stay the same is named at its line, unless the model is only asked there.
func TestWhatComesOfInputsThatStay(t *testing.T) {
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	for _, asks := range []bool{false, true} {
		p := testkit.NewProgram()
		scales := testkit.Native(40, module, loop(40), call, user("forward", 10, 12))
		layers := testkit.Native(40, module, loop(40), call, user("forward", 10, 14))
		if asks {
			layers = testkit.Native(40, module, loop(44), call, user("forward", 10, 14))
		}
		back := testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward"))
		p.Steps(40, model.PhaseBaseline, layers, back, scales)
		trainingTraceOf(p, 3, layers, scales, false)
		for step := range int64(20) {
			p.P.Asked = append(p.P.Asked, model.Asked{Time: model.Time(step), Module: 1, Inputs: p.S.Strings.Intern("#1"), Weights: step,
				File: p.S.Strings.Intern(loop(40).File), Line: 40, Gradients: true, Trained: true, Training: true})
		}
		res, _ := find(t, p)
		f := res.Findings[0]
		if found := f.Cause == finding.Again; found == asks {
			t.Fatalf("only asked %v: %s/%s", asks, f.Cause, f.Sub)
		}
		if ms := f.Step.Mid / 1e6; !asks && (f.Sub != "inputs" || f.Where.Line != 12 || ms < 36 || ms > 40) {
			t.Errorf("%s at line %d saves %+v", f.Sub, f.Where.Line, f.Step)
		}
	}
}

// The answer in training mode is another one than that of an evaluation, whose weights are the same: a dropout without a module of its own.
func TestModesAreAskedApart(t *testing.T) {
	p := frozen(-1, "aten::conv2d", true)
	for step := range int64(20) {
		for _, line := range []int{40, 44} {
			p.P.Asked = append(p.P.Asked, model.Asked{Time: model.Time(step), Module: 1, Inputs: p.S.Strings.Intern("#1"),
				Weights: step + int64(line)/44, File: p.S.Strings.Intern(loop(line).File), Line: int32(line), Gradients: line == 40,
				Trained: true, Training: line == 40})
		}
	}
	res, _ := find(t, p)
	if f := res.Findings[0]; f.Cause == finding.Again {
		t.Errorf("%s", f.Title)
	}
}

// Where no call was looked at, a network whose function is called elsewhere with gradients is not taken for one that does not learn.
func TestATrainedNetworkIsNotFrozen(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Length: 8, BatchSize: 32}}
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	forward := func(line int) testkit.Act {
		return testkit.Native(40, module, loop(line), call, user("forward", 10, 12))
	}
	back := testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward"))
	wait := testkit.Python(1, module, loop(39), next, fetch).In(model.SpanDataWait)
	p.Steps(40, model.PhaseBaseline, wait, forward(40), back, forward(44))
	trainingTraceOf(p, 3, forward(40), forward(44), false)
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Again {
			t.Errorf("%s", f.Title)
		}
	}
}

// That a network stays the same is not believed of one that gradients go to, nor where something may have written into it or its inputs
// unseen: a replayed graph, a message, an operator in place where no bytes were compared.
func TestStayingTheSameIsNotBelieved(t *testing.T) {
	for _, c := range []struct {
		name                   string
		operator               string
		graphs, learns, unread bool
		gradients, found       bool
	}{
		{name: "it stays", operator: "aten::conv2d", found: true},
		{name: "it stays on a device", operator: "aten::conv2d", unread: true, found: true},
		{name: "it learns by a fused optimizer", operator: "aten::conv2d", unread: true, gradients: true, learns: true},
		{name: "its gradients are for nothing", operator: "aten::conv2d", unread: true, gradients: true, found: true},
		{name: "a buffer is written by way of .data", operator: "aten::copy_", unread: true},
		{name: "a buffer is written, and its bytes stay", operator: "aten::copy_", found: true},
		{name: "weights follow by way of .data", operator: "aten::lerp_", unread: true},
		{name: "it is what another rank sends", operator: "c10d::broadcast_", unread: true},
		{name: "graphs of the device write", operator: "aten::conv2d", graphs: true, unread: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := frozen(-1, c.operator, c.learns)
			for step := range int64(16) {
				p.P.Asked = append(p.P.Asked, model.Asked{Time: model.Time(step), Module: 1, Inputs: p.S.Strings.Intern("#1.0"), Weights: 3,
					File: p.S.Strings.Intern(loop(44).File), Line: 44, Gradients: c.gradients, Trained: c.gradients, Unread: c.unread})
			}
			if c.graphs {
				tr := p.S.Traces[0]
				p.Event(&tr.Events, p.T-1, 1, "cudaGraphLaunch", model.KindRuntime, model.NoEvent, -1)
				tr.Lanes[0].EndEvent = model.EventID(tr.Events.Len())
			}
			res, _ := find(t, p)
			if f := res.Findings[0]; (f.Cause == finding.Again && f.Sub == "same") != c.found {
				t.Errorf("%s/%s: %s", f.Cause, f.Sub, f.Title)
			}
		})
	}
}
