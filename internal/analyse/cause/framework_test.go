package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// trained is a stack of a trainer that runs the whole step in the closure that it hands to the optimizer, above the line that starts it.
func trained(inner ...testkit.Frame) []testkit.Frame {
	out := []testkit.Frame{module, loop(44), installed("site-packages/lightning/pytorch/loops/optimization/automatic.py",
		"_optimizer_step"),
		torchFrame("optim/lr_scheduler.py", "wrapper"), torchFrame("optim/optimizer.py", "wrapper"), torchFrame("optim/adam.py", "step")}
	return append(out, inner...)
}

// fitted is a program whose operators are tiny, with so many ms of a trainer's hooks in each step of 100 ms.
func fitted(t *testing.T, hooks int, hook ...testkit.Frame) *testkit.Program {
	t.Helper()
	p := testkit.NewProgram()
	closure := installed("site-packages/lightning/pytorch/loops/optimization/automatic.py", "Closure.__call__")
	model1 := []testkit.Frame{closure, user("training_step", 10, 12), torchFrame("nn/modules/linear.py", "forward")}
	p.Steps(20, model.PhaseBaseline, testkit.Native(80-hooks, trained(model1...)...), testkit.Python(10, trained(model1...)...),
		testkit.Python(hooks, trained(append([]testkit.Frame{closure}, hook...)...)...),
		testkit.Native(10, trained(torchFrame("optim/adam.py", "_single_tensor_adam"))...))
	tracedHandWritten(p)
	return p
}

// What a trainer does around the operators is Python of its own: the trainer's function is named and what turns it off, and it is neither
// the optimizer's nor the price of calling operators.
func TestHooksOfATrainerAreItsOwn(t *testing.T) {
	bar := installed("site-packages/lightning/pytorch/callbacks/progress/tqdm_progress.py", "TQDMProgressBar.on_train_batch_end")
	p := fitted(t, 30, bar)
	res, _ := find(t, p)
	hooks := false
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Cause == finding.Launch && f.Step.High > 62e6 {
			t.Errorf("%q promises up to %.0f ms, of which 30 are the trainer's", f.Title, f.Step.High/1e6)
		}
		if strings.HasPrefix(f.Title.ID, "launch.title-optimizer") && f.Step.High > 12e6 {
			t.Errorf("%q promises up to %.0f ms where the optimizer takes 10", f.Title, f.Step.High/1e6)
		}
		if f.Cause == finding.Python {
			hooks = true
			if !strings.Contains(f.Title.String(), "lightning") || textOf(f.Evidence, "python.framework") == "" ||
				!strings.Contains(f.Fix.Advice[0].String(), "enable_progress_bar=False") {
				t.Errorf("%q, evidence %v, fix %v: want Lightning's progress bar and its switch", f.Title, f.Evidence, f.Fix.Advice)
			}
		}
	}
	if !hooks {
		t.Errorf("found %+v, want the trainer's hooks", res.Findings)
	}
}

// An optimizer of the program's own, with a helper beneath its step, stays an optimizer.
func TestAnOwnOptimizerIsNoClosure(t *testing.T) {
	p := testkit.NewProgram()
	step := []testkit.Frame{module, loop(42), torchFrame("optim/optimizer.py", "wrapper"),
		torchFrame("utils/_contextlib.py", "decorate_context"), user("step", 60, 66), user("decay", 70, 71)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), user("block", 10, 11)), testkit.Native(30, step...),
		testkit.Python(10, step...))
	tracedHandWritten(p)
	res, _ := find(t, p)
	if len(res.Findings) == 0 || res.Findings[0].Title.ID != "launch.title-optimizer" {
		t.Errorf("found %+v, want the optimizer", res.Findings)
	}
}

// Checks of distributions are one thing to the user: what switches them off is the advice, not fewer tiny operators.
func TestChecksOfDistributionsAreNamed(t *testing.T) {
	p := testkit.NewProgram()
	check := []testkit.Frame{module, loop(44), user("act", 10, 14), torchFrame("distributions/categorical.py", "Categorical.__init__"),
		torchFrame("distributions/distribution.py", "Distribution.__init__")}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), user("block", 10, 11)), testkit.Native(10, check...),
		testkit.Python(10, append(check, torchFrame("distributions/constraints.py", "_Simplex.check"))...))
	tracedHandWritten(p)
	res, _ := find(t, p)
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Title.ID == "python.title-validated" {
			if f.Where.Line != 14 || f.Step.Mid < 15e6 {
				t.Errorf("line %d, saves %.0f ms of 20 at line 14", f.Where.Line, f.Step.Mid/1e6)
			}
			return
		}
	}
	t.Errorf("found %+v, want the checks", res.Findings)
}

// An optimizer whose step a trainer or a scaler calls is mended where it is built; where the program calls its step itself, that line says
// it.
func TestAnOptimizerIsMendedWhereItIsBuilt(t *testing.T) {
	optim := []testkit.Frame{torchFrame("optim/optimizer.py", "wrapper"), torchFrame("optim/adam.py", "_single_tensor_adam")}
	for name, c := range map[string]struct {
		between []testkit.Frame
		built   []int32
		line    int
	}{
		"trainer": {[]testkit.Frame{installed("site-packages/lightning/pytorch/plugins/precision/precision.py", "optimizer_step")},
			[]int32{15}, 15},
		"scaler":      {[]testkit.Frame{torchFrame("amp/grad_scaler.py", "GradScaler.step")}, []int32{15}, 15},
		"itself":      {nil, []int32{15}, 44},
		"several":     {[]testkit.Frame{torchFrame("amp/grad_scaler.py", "GradScaler.step")}, []int32{15, 16}, 44},
		"not watched": {[]testkit.Frame{torchFrame("amp/grad_scaler.py", "GradScaler.step")}, nil, 44},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.NewProgram()
			for _, line := range c.built {
				p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanOther, Start: p.T, End: p.T, Thread: p.P.PID, Loader: -1,
					Name: p.S.Strings.Intern("Optimizer.__init__"), File: p.S.Strings.Intern("/home/u/train.py"), Line: line})
			}
			step := append(append([]testkit.Frame{module, loop(44)}, c.between...), optim...)
			p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), user("block", 10, 11)), testkit.Native(30, step...),
				testkit.Python(10, step...))
			tracedHandWritten(p)
			res, _ := find(t, p)
			for i := range res.Findings {
				if f := &res.Findings[i]; f.Title.ID == "launch.title-optimizer" {
					if f.Where.Line != c.line {
						t.Errorf("at line %d, want %d", f.Where.Line, c.line)
					}
					return
				}
			}
			t.Errorf("found %+v, want the optimizer", res.Findings)
		})
	}
}

// Weights that a parametrization computes anew are named where a loop within the step uses them, not where the step does once, nor where
// the loop goes over layers.
func TestParametrizedWeightsInALoop(t *testing.T) {
	for source, want := range map[[2]string]bool{
		{"for x in xs:", "h = self.cell(x, h)"}: true, {"for cell in range(9):", "h = self.cell(x, h)"}: true,
		{"with amp:", "h = self.cell(x, h)"}: false, {"for layer in self.layers:", "x = layer(x)"}: false,
		{"for i, up in enumerate(ups):", "x = self.up[2 * i](x)"}: false, {"for i in range(9):", "x = self.up[i].forward(x)"}: false,
	} {
		p := testkit.NewProgram()
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), user("block", 10, 11)),
			testkit.Native(30, module, loop(44), user("forward", 12, 14), torchFrame("nn/modules/linear.py", "Linear.forward"),
				torchFrame("nn/utils/parametrize.py", "get_parametrized"), torchFrame("nn/utils/parametrizations.py", "_Orthogonal.forward")))
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: append(make([]string, 11),
			"def forward(self, xs):", "    "+source[0], "        "+source[1])}
		tracedHandWritten(p)
		res, _ := find(t, p)
		named := len(res.Findings) > 0 && res.Findings[0].Title.ID == "python.title-parametrized"
		if named != want || named && (res.Findings[0].Where.Line != 14 || res.Findings[0].Step.Mid < 30e6) {
			t.Errorf("%s: %+v", source, res.Findings)
		}
	}
}
