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

// A model that is asked for what it has answered already is named, where the tensors are the same and the answer is not one of other weights
// that somebody learns from.
func TestAskedForTheSameAgain(t *testing.T) {
	type looks func(step int64) (module, input, weights int64, random bool)
	trained := looks(func(step int64) (int64, int64, int64, bool) { return 1, step + 1, step, false })
	whole := looks(func(step int64) (int64, int64, int64, bool) { return 1, 1, step, false })
	for _, c := range []struct {
		name            string
		trained, beside looks
		batches         int64
		learnt          bool // gradients go through what line 44 calls
		sub             string
		line            int
		caveat          bool
	}{
		{"an accuracy after the update", trained, func(step int64) (int64, int64, int64, bool) { return 1, step + 1, step + 1, false }, -1,
			false, "twice", 44, true},
		{"an accuracy before the update", trained, trained, -1, false, "twice", 44, false},
		{"a second loss with other weights", trained, func(step int64) (int64, int64, int64, bool) { return 1, step + 1, step + 1, false }, -1,
			true, "", 0, false},
		{"a second loss with the same weights", trained, trained, -1, true, "twice", 44, false},
		{"a second loss with another dropout", trained, func(step int64) (int64, int64, int64, bool) { return 1, step + 1, step, true }, -1,
			true, "", 0, false},
		{"another model", trained, func(step int64) (int64, int64, int64, bool) { return 2, step + 1, 0, false }, -1, false, "", 0, false},
		{"a network that does not change", trained, func(int64) (int64, int64, int64, bool) { return 2, 100, 0, false }, -1, false, "same", 44,
			false},
		{"one that draws numbers", trained, func(int64) (int64, int64, int64, bool) { return 2, 100, 0, true }, -1, false, "", 0, false},
		{"the trained one, for what cannot be told", trained, func(step int64) (int64, int64, int64, bool) { return 1, 0, step + 1, false }, 8,
			false, "", 0, false},
		{"a frozen one, for what cannot be told", trained, func(int64) (int64, int64, int64, bool) { return 2, 0, 5, false }, 8, false,
			"frozen", 44, false},
		{"the whole data in each step", whole, func(step int64) (int64, int64, int64, bool) { return 2, 100, step, false }, -1, false,
			"inputs", 12, false},
		{"the whole data, through which gradients go", whole, func(step int64) (int64, int64, int64, bool) { return 2, 100, step, false }, -1,
			true, "", 0, false},
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
	p.Steps(40, model.PhaseBaseline, testkit.Python(1, module, loop(39), next, fetch).In(model.SpanDataWait), forward(40), back, forward(44))
	trainingTraceOf(p, 3, forward(40), forward(44), false)
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Again {
			t.Errorf("%s", f.Title)
		}
	}
}
