package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// recomputed is a training whose layers are called at a line of the model's by a function of a file, and again in the backward pass.
func recomputed(file string, ms int) *testkit.Program {
	p := testkit.NewProgram()
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	asked := []testkit.Frame{module, loop(40), call, user("forward", 10, 14)}
	backward := []testkit.Frame{module, loop(41), torchFrame("_tensor.py", "Tensor.backward"),
		torchFrame("autograd/__init__.py", "backward"), torchFrame("autograd/graph.py", "_engine_run_backward")}
	at := func(frames []testkit.Frame, more ...testkit.Frame) []testkit.Frame {
		return slices.Concat(frames, more)
	}
	layer := []testkit.Frame{call, user("Block.forward", 20, 24), call, torchFrame("nn/modules/linear.py", "Linear.forward")}
	p.Steps(40, model.PhaseBaseline,
		testkit.Native(30, at(at(asked, torchFrame(file, "checkpoint")), layer...)...),
		testkit.Native(ms, at(at(backward, torchFrame(file, "unpack_hook"), torchFrame(file, "recompute_fn")), layer...)...),
		testkit.Python(ms/6, at(backward, torchFrame(file, "unpack_hook"), torchFrame("random.py", "fork_rng"))...),
		testkit.Native(50, backward...))
	return p
}

// What the backward pass computes again is named at the line whose layers keep nothing, with the bookkeeping beside it.
func TestActivationsThatAreComputedAgain(t *testing.T) {
	res, _ := find(t, recomputed("utils/checkpoint.py", 30))
	f := want(t, res, finding.Again, "activations", 14, 0)
	if ms := f.Step.Mid / 1e6; ms < 34 || ms > 39 || f.Step.Low < 25e6 { // 30 ms and 5 of bookkeeping
		t.Errorf("saves %+v", f.Step)
	}
	for name, p := range map[string]*testkit.Program{
		"another function": recomputed("utils/hooks.py", 30),
		"a small part":     recomputed("utils/checkpoint.py", 1),
	} {
		res, _ := find(t, p)
		for _, f := range res.Findings {
			if f.Cause == finding.Again {
				t.Errorf("%s: %s, %+v", name, f.Title, f.Step)
			}
		}
	}
}

// An argument that stands once in the program is the place.
func TestActivationsOfATrainerAreSwitchedAtItsArgument(t *testing.T) {
	p := recomputed("utils/checkpoint.py", 30)
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py",
		Lines: []string{"import trainer", "options = trainer.Options(gradient_checkpointing=True)"}}
	res, _ := find(t, p)
	want(t, res, finding.Again, "activations", 2, 0)
}
