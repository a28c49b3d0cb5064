package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// averaging is a training that goes through the parameters of two models in the function in lines 1 to 4 of its source, beside the calls of
// its own model.
func averaging(head, body string, below ...testkit.Frame) *testkit.Program {
	p := testkit.NewProgram()
	p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: []string{"def average(averaged, model):",
		"    old, now = averaged.state_dict(), model.state_dict()", "    for " + head + ":", "        " + body}}
	stack := append([]testkit.Frame{module, loop(43), user("average", 1, 4)}, below...)
	p.Steps(40, model.PhaseBaseline, testkit.Native(45, module, loop(40), user("block", 10, 11)),
		testkit.Native(20, stack...), testkit.Python(10, stack...),
		testkit.Native(30, module, loop(42), torchFrame("optim/optimizer.py", "wrapper"), torchFrame("optim/adam.py", "_fused_adam")))
	tracedHandWritten(p)
	return p
}

// A loop over parameters is named with what it does with them, and its saving was measured for each; loops over other things are as before.
func TestLoopsOverParameters(t *testing.T) {
	for _, c := range []struct {
		head, body, fix string
		low, high       float64 // ms that the best guess lies between
	}{
		{"a, b in zip(averaged.parameters(), model.parameters())", "a.mul_(0.9).add_(b, alpha=0.1)",
			"launch.fix-parameters-average", 12, 27},
		{"k in old", "old[k].copy_(now[k])", "launch.fix-parameters-average", 12, 27},
		{"p in model.parameters()", "total += p.grad.norm().item() ** 2", "launch.fix-parameters-norm", 6, 15},
		{"p in model.parameters()", "p.grad.clamp_(-1, 1)", "launch.fix-parameters", 12, 27},
		{"x in batch", "x.mul_(2)", "", 0, 0},
	} {
		res, _ := find(t, averaging(c.head, c.body))
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "parameters" })
		if (i >= 0) != (c.fix != "") {
			t.Errorf("%s: finding %d of %d", c.head, i, len(res.Findings))
		}
		if i < 0 {
			continue
		}
		f := &res.Findings[i]
		if f.Where.Line != 4 || f.Fix.Advice[0].ID != c.fix || f.Step.Mid < c.low*1e6 || f.Step.Mid > c.high*1e6 {
			t.Errorf("%s: line %d, %q, saves %+v; want %s, %g to %g ms", c.body, f.Where.Line, wording.Sentences(f.Fix.Advice), f.Step,
				c.fix, c.low, c.high)
		}
	}
}

// A loop over parameters that calls the model for each of them works on no parameters most of the time.
func TestLoopOverParametersThatCallsTheModel(t *testing.T) {
	res, _ := find(t, averaging("p in model.parameters()", "p.data.add_(0.1); loss = model(x)",
		torchFrame("nn/modules/module.py", "Module._call_impl"), torchFrame("nn/modules/linear.py", "Linear.forward")))
	for _, f := range res.Findings {
		if f.Sub == "parameters" {
			t.Errorf("%s", f.Title)
		}
	}
}

// TestPenaltyOnParameters: a loop that adds a penalty on each parameter to the loss is told so, with the backward pass through it, where
// traced steps have a node of it for each parameter. What is only measured, or done to a few, is as before.
func TestPenaltyOnParameters(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		nodes int
		want  bool
	}{
		"squares":       {"total = total + torch.sum(p ** 2)", 20, true},
		"norms":         {"total += torch.norm(p)", 20, true},
		"of gradients":  {"total += p.grad.norm() ** 2", 20, false},
		"read back":     {"total += p.norm().item() ** 2", 20, false},
		"without nodes": {"total = total + torch.sum(p ** 2)", 3, false},
	} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: []string{"def penalty(model, total):",
			"    total = 0.0", "    for p in model.parameters():", "        " + c.body}}
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: 20, Steps: 40, Backwards: 40, Optimizers: 1}}
		acts := []testkit.Act{testkit.Native(20, module, loop(43), user("penalty", 1, 4)), testkit.Native(40, module, loop(40)),
			testkit.Native(40, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward"))}
		p.Steps(60, model.PhaseBaseline, acts...)
		list := []called{{name: "aten::mul", n: 400, us: 20}, {name: "aten::mm", n: 4, us: 15_000}}
		for range c.nodes {
			list = append(list, called{name: naming.EngineNode + ": SumBackward0", n: 1, us: 200},
				called{name: naming.EngineNode + ": PowBackward0", n: 1, us: 800})
		}
		tracedActs(p, acts, list...)
		res, _ := find(t, p)
		var got *finding.Finding
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Sub == "parameters" && f.Fix.Advice[0].ID == "launch.fix-penalty" {
				got = f
			}
		}
		if (got != nil) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
		if got != nil && (got.Where.Line != 4 || got.Step.Mid < 28e6 || got.Step.Mid > 42e6) {
			t.Errorf("%s: line %d, saves %.1f ms of 20 and a part of the backward pass", name, got.Where.Line, got.Step.Mid/1e6)
		}
	}
}
