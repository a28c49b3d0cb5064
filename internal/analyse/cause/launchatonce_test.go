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

// TestTurnsThatCouldBeDoneAtOnce: a loop within a step whose turns each take a part of a tensor, or have a layer of another width, is named
// with its backward passes, with less to save where turns are long; not where a turn needs what the one before gave, where few turn, where
// layers of one width may follow one another, nor on a device.
func TestTurnsThatCouldBeDoneAtOnce(t *testing.T) {
	turns := func(n, ms int, shapes string, others ...string) (ops []tracedOp) {
		for i := range n {
			for _, name := range others {
				ops = append(ops, tracedOp{0, name, "[[16, 64, 8]]", "", -1, nil})
			}
			ops = append(ops, tracedOp{ms, "aten::linear", shapes, "", int64(i), nil}, tracedOp{0, "aten::relu", "[[16, 8]]", "", -1, nil})
		}
		for i := range n {
			ops = append(ops, tracedOp{ms, naming.EngineNode + ": AddmmBackward0", "", "", int64(i), nil})
		}
		return append(ops, tracedOp{100 - 2*n*ms, "aten::mm", "[[64, 128], [128, 64]]", "", -1, nil})
	}
	const same, wider = "[[16, 8], [8, 8], [8]]", "[[16, 8], [32, 8], [32]]"
	loop := []string{"    for c in range(40):", "        out.append(self.layers[c](x[:, c]))"}
	for name, c := range map[string]struct {
		ops       []tracedOp
		lines     []string
		low, high float64 // ms that the best guess lies between, 0 for no finding
	}{
		"a part each":          {turns(20, 2, same, "aten::select"), loop, 10, 16},
		"layers of one input":  {turns(20, 2, wider), []string{"", "    out = [layer(x) for layer in self.layers]"}, 10, 16},
		"layers on each other": {turns(20, 2, same), loop, 0, 0},
		"one after the other": {turns(20, 2, same, "aten::select"),
			[]string{"    for layer in self.layers:", "        x = layer(x[:, 0])"}, 0, 0},
		"no loop":   {turns(20, 2, same, "aten::select"), []string{"", "    out = self.layers(x)"}, 0, 0},
		"few turns": {turns(5, 8, same, "aten::select"), loop, 0, 0},
	} {
		p := tracedProgram(false, c.ops)
		p.S.Sources = inLoopSource(c.lines...)
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "at-once" })
		if (i >= 0) != (c.high > 0) {
			t.Errorf("%s: %+v", name, res.Findings)
		} else if i >= 0 {
			if f := &res.Findings[i]; f.Where.Line != 12 || f.Step.Mid < c.low*1e6 || f.Step.Mid > c.high*1e6 {
				t.Errorf("%s: saves %+v at %d, want %g to %g ms", name, f.Step, f.Where.Line, c.low, c.high)
			}
		}
	}
	p := tracedProgram(true, turns(20, 2, same, "aten::select"))
	p.S.Sources = inLoopSource(loop...)
	if res, _ := find(t, p); slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "at-once" }) {
		t.Errorf("on a device: %+v", res.Findings)
	}
}

// TestLayersOfTurnsAreUpdatedAtOnce: where each turn calls a layer of its own, the optimizer's part for these goes with the loop; not where
// all turns call one, nor where there are fewer weights than layers are called.
func TestLayersOfTurnsAreUpdatedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		line       string
		parameters int64
		most       float64 // ms of the counted time
	}{
		"a layer each":  {"        out.append(self.layers[c](x[:, c]))", 40, 85},
		"one layer":     {"        out.append(self.layer(x[:, c]))", 40, 65},
		"fewer weights": {"        out.append(self.layers[c](x[:, c]))", 4, 65},
	} {
		var ops []tracedOp
		for i := range 20 {
			ops = append(ops, tracedOp{0, "aten::select", "[[16, 64, 8]]", "", -1, nil},
				tracedOp{2, "aten::linear", "[[16, 8], [8, 8], [8]]", "", int64(i), nil})
		}
		p := tracedProgram(false, append(ops, tracedOp{60, "aten::mm", "[[64, 128], [128, 64]]", "", -1, nil}))
		p.Steps(20, model.PhaseBaseline,
			testkit.Native(60, module, loop(40), user("forward", 10, 12), torchFrame("nn/modules/module.py", "Module._call_impl")),
			testkit.Native(40, module, loop(42), torchFrame("optim/optimizer.py", "wrapper"),
				torchFrame("optim/adam.py", "_single_tensor_adam")))
		p.S.Sources = inLoopSource("    for c in range(40):", c.line)
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: c.parameters, Steps: 40, Backwards: 40, Optimizers: 1}}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "at-once" })
		if i < 0 {
			t.Fatalf("%s: %+v", name, res.Findings)
		}
		counted := res.Findings[i].Share * 100
		if updates := slices.ContainsFunc(res.Findings[i].Evidence, func(e wording.Text) bool {
			return e.ID == "launch.at-once-updates"
		}); updates != (c.most > 70) || counted > c.most {
			t.Errorf("%s: %.0f %% of 100 ms, its updates %v", name, counted, updates)
		}
	}
}
