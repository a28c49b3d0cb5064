package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
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
