package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// frozen is a training of 40 untraced steps, each with a batch of a loader of so many batches, and 40 ms in a module through which no
// gradient goes, or one does; that module's operator is named.
func frozen(batches int64, operator string, differentiated bool) *testkit.Program {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Length: batches, BatchSize: 32}}
	trunk := testkit.Native(40, module, loop(44), torchFrame("nn/modules/module.py", "Module._call_impl"), user("forward", 10, 12),
		torchFrame("nn/modules/module.py", "Module._call_impl"), torchFrame("nn/modules/conv.py", "Conv2d.forward"))
	p.Steps(40, model.PhaseBaseline, testkit.Python(1, module, loop(39), next, fetch).In(model.SpanDataWait),
		testkit.Native(40, module, loop(40), torchFrame("nn/modules/module.py", "Module._call_impl")),
		testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), trunk)
	trainingTrace(p, 3, trunk, differentiated)
	for i, name := range p.S.Traces[0].Events.Name {
		if p.S.Strings.Text(name) == "aten::histc" {
			p.S.Traces[0].Events.Name[i] = p.S.Strings.Intern(operator)
		}
	}
	return p
}

// A network that does not learn and sees the same data several times is named at the line that calls it; its saving is not certain, as a
// trace does not tell whether samples are the same each time.
func TestFrozenNetworkIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		name           string
		batches        int64
		operator       string
		differentiated bool
		found          bool
	}{
		{"five epochs", 8, "aten::conv2d", false, true},
		{"one epoch", 40, "aten::conv2d", false, false},
		{"no loader's length", -1, "aten::conv2d", false, false},
		{"it learns", 8, "aten::conv2d", true, false},
		{"noise is its input", 8, "aten::randn", false, false},
		{"it follows the trained weights", 8, "aten::lerp_", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, frozen(c.batches, c.operator, c.differentiated))
			if !c.found {
				for _, f := range res.Findings {
					if f.Cause == finding.Again {
						t.Errorf("%s, %+v", f.Title, f.Step)
					}
				}
				return
			}
			f := want(t, res, finding.Again, "frozen", 44, 0)
			if ms := f.Step.Mid / 1e6; ms < 28 || ms > 33 || f.Step.Low != 0 { // 40 ms less one of five epochs, and what fetching costs
				t.Errorf("saves %+v", f.Step)
			}
		})
	}
}
