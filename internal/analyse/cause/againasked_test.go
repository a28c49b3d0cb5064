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
		{"the whole data in each step", always(1, 1, false), always(2, 1, false), -1, false, "inputs", 12, false},
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
