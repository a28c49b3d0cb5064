package cause_test

import (
	"math"
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestGradientsThatNobodyUses: a backward pass of 20 layers, of which optimizers change as many parameters as a case says.
func TestGradientsThatNobodyUses(t *testing.T) {
	const layers = 20
	head := model.Updates{Optimizer: 1, Parameters: 2, Steps: 16, Backwards: 16, Optimizers: 1}
	changed := func(change func(*model.Updates)) model.Updates {
		u := head
		change(&u)
		return u
	}
	for _, c := range []struct {
		name    string
		updates []model.Updates
		named   bool
	}{
		{"a head", []model.Updates{head}, true},
		{"all", []model.Updates{changed(func(u *model.Updates) { u.Parameters = layers })}, false},
		{"nearly all", []model.Updates{changed(func(u *model.Updates) { u.Parameters = layers - 3 })}, false},
		{"all, by two optimizers", []model.Updates{changed(func(u *model.Updates) { u.Optimizers = 2 }),
			{Optimizer: 2, Parameters: layers - 2, Steps: 16, Backwards: 16, Optimizers: 2}}, false},
		{"a head, and an optimizer that has not stepped yet", []model.Updates{changed(func(u *model.Updates) { u.Optimizers = 2 })}, false},
		{"copies in another precision", []model.Updates{changed(func(u *model.Updates) { u.Parameters = 0 })}, false},
		{"ten backward passes a step", []model.Updates{changed(func(u *model.Updates) { u.Parameters, u.Backwards = 2, 160 })}, false},
		{"an agent that does not say", nil, false},
	} {
		p := testkit.NewProgram()
		p.P.Updates = c.updates
		backward := testkit.Native(60, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward"))
		p.Steps(40, model.PhaseBaseline, testkit.Native(30, module, loop(40), torchFrame("nn/modules/conv.py", "forward")), backward)
		list := []called{{name: "aten::convolution", n: 20, us: 1400}}
		for range layers {
			list = append(list, called{name: "autograd::engine::evaluate_function: ConvolutionBackward0", n: 1, us: 2500},
				called{name: "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", n: 1, us: 100})
		}
		tracedStep(p, testkit.Native(90), list...)
		res, _ := find(t, p)
		f := res.Findings[0]
		if named := f.Cause == finding.UnusedGradients; named != c.named {
			t.Errorf("%s: %s first", c.name, f.Cause)
		} else if named && math.Abs(f.Step.High/1e6-60*0.9*1.15) > 6 {
			t.Errorf("%s: saves up to %.1f ms of a backward pass of 60 ms, want some nine tenths", c.name, f.Step.High/1e6)
		}
	}
}

// Gradients that torch.autograd.grad hands back to the program are no parameters': here a pass computes those of eight layers for an
// optimizer, and eight for the program.
func TestGradientsThatAreHandedBack(t *testing.T) {
	const event = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
	added := tracedOp{1, event, "", "", -1, []tracedOp{{1, "torch::autograd::AccumulateGrad", "", "", -1, nil}}}
	back := tracedOp{1, event, "", "", -1, nil}
	node := tracedOp{2, "autograd::engine::evaluate_function: AddmmBackward0", "", "", 7, nil}
	ops := []tracedOp{{60, "aten::linear", "", "", 7, nil}}
	for range 8 {
		ops = append(ops, node, added, back)
	}
	for parameters, named := range map[int64]bool{8: false, 2: true} {
		p := hots(ops...)
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: parameters, Steps: 16, Backwards: 16, Optimizers: 1}}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.UnusedGradients })
		if (i >= 0) != named {
			t.Errorf("%d parameters: %+v", parameters, res.Findings)
		}
	}
}

// TestGradientsThatAreThrownAway: four backward passes for each update, of which each makes the gradients of two weights anew: an attack
// asks for its input's. Passes that add up, those of which the program may read the parameters' gradients, and single ones are left alone.
func TestGradientsThatAreThrownAway(t *testing.T) {
	const event = "autograd::engine::evaluate_function: "
	gradient := func(shape string, added bool) tracedOp {
		inner := tracedOp{1, "torch::autograd::AccumulateGrad", "[" + shape + "]", "", -1, nil}
		if added {
			inner.inside = []tracedOp{{1, "aten::add_", "", "", -1, nil}}
		}
		return tracedOp{1, event + "torch::autograd::AccumulateGrad", "", "", -1, []tracedOp{inner}}
	}
	layer := tracedOp{10, event + "AddmmBackward0", "", "", 7, []tracedOp{
		{4, "aten::mm", "[[64, 32], [32, 128]]", "", -1, nil}, {6, "aten::mm", "[[32, 64], [64, 128]]", "", -1, nil}}}
	for name, c := range map[string]struct {
		passes       int64
		input, added bool
		want         bool
	}{
		"an attack":             {4, true, false, true},
		"passes add up":         {4, true, true, false},
		"gradients may be read": {4, false, false, false},
		"one pass":              {1, true, false, false},
	} {
		ops := []tracedOp{{5, "aten::linear", "", "", 7, nil}}
		for k := range c.passes {
			for range 2 {
				ops = append(ops, layer, gradient("[64, 128]", c.added && k > 0))
			}
			if c.input {
				ops = append(ops, gradient("[32, 128, 1]", false))
			}
		}
		p := hots(ops...)
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: 2, Steps: 16, Backwards: 16 * c.passes, Optimizers: 1}}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.UnusedGradients })
		if (i >= 0) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// TestGraphThatNothingGoesBackwardThrough: steps that only ask a model make nodes of a graph, or not, and 10 µs each.
func TestGraphThatNothingGoesBackwardThrough(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		nodes      bool
		backward   bool
		named      bool
	}{
		{"inference", "inference", true, false, true}, {"a validation", "validation", true, false, true},
		{"under no_grad", "inference", false, false, false}, {"training", "train", true, true, false},
		{"a rollout, whose graph an update uses", "forward", true, false, false},
		{"a backward pass in it", "inference", true, true, false},
	} {
		p := testkit.NewProgram()
		p.Steps(60, model.PhaseBaseline, testkit.Native(12, module, loop(40), torchFrame("nn/modules/linear.py", "forward")))
		list := []called{{name: "aten::linear", n: 1000, us: 10, grad: c.nodes}}
		if c.backward {
			list = append(list, called{name: backwardOf, n: 10, us: 10, grad: true})
		}
		tracedStep(p, testkit.Native(12), list...)
		kind := p.S.Strings.Intern(c.kind)
		for i := range p.P.Steps {
			p.P.Steps[i].Kind = kind
		}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.UnusedGradients })
		if (i >= 0) != c.named {
			t.Errorf("%s: %+v", c.name, res.Findings)
		} else if f := res.Findings[max(i, 0)]; c.named && (f.Sub != "graph" || math.Abs(f.Step.Mid/1e6-1.2) > 0.1 || f.Where.Line != 40) {
			t.Errorf("%s: %s saves %.2f ms at line %d, want 1.20 at 40", c.name, f.Sub, f.Step.Mid/1e6, f.Where.Line)
		}
	}
}

// TestGradientsOfANetworkAboveWhatLearns: a loss network of one layer compares what a decoder makes with a target; its weight's gradients
// are computed for both, and what the decoder learns from goes through one. A teacher beside a pupil hands nothing on.
func TestGradientsOfANetworkAboveWhatLearns(t *testing.T) {
	const mine, other = "[[8, 64, 9, 9], [8, 64, 9, 9], [64, 64, 3, 3], [], []]", "[[8, 32, 9, 9], [8, 16, 9, 9], [32, 16, 3, 3], [], []]"
	const arguments = `["", "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", `
	both, weight := arguments+`"[True, True, False]"]`, arguments+`"[False, True, False]"]`
	node := func(name string, in tracedOp) tracedOp {
		return tracedOp{in.ms, "autograd::engine::evaluate_function: " + name, "", "", 7, []tracedOp{in}}
	}
	convolution := func(shapes, mask string) tracedOp {
		return node("ConvolutionBackward0", tracedOp{10, "aten::convolution_backward", shapes, mask, 7, nil})
	}
	gradient := func(shape string) tracedOp {
		return node("torch::autograd::AccumulateGrad", tracedOp{1, "torch::autograd::AccumulateGrad", shape, "", -1, nil})
	}
	own, learns := gradient("[[64, 64, 3, 3]]"), gradient("[[32, 16, 3, 3]]")
	forward := tracedOp{50, "aten::conv2d", other, "", 7, nil}
	const backward = 40e6
	for _, c := range []struct {
		name      string
		sizes     map[int64]int64
		ops       []tracedOp
		low, high float64 // of the backward pass
	}{
		{"a loss network", map[int64]int64{36864: 1}, []tracedOp{convolution(mine, both), convolution(mine, weight), own,
			convolution(other, weight), learns}, 15.0 / 32, (20 + 2*20.0/30) / 32},
		{"a teacher", map[int64]int64{36864: 1}, []tracedOp{convolution(mine, weight), own, convolution(other, weight), learns},
			10.0 / 22, 11.0 / 22},
		{"a teacher like its pupil", map[int64]int64{4608: 1}, []tracedOp{convolution(other, weight), learns, convolution(other, weight),
			learns}, 10.0 / 22, 11.0 / 22},
		{"nothing is told", nil, []tracedOp{convolution(mine, both), convolution(mine, weight), own,
			convolution(other, weight), learns}, 0, 0},
		{"other layers", map[int64]int64{777: 1}, []tracedOp{convolution(mine, weight), own, convolution(other, weight), learns}, 0, 0},
	} {
		p := hots(append([]tracedOp{forward}, c.ops...)...)
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: 12, Steps: 16, Backwards: 16, Optimizers: 1}}
		unused := func(line int32, sizes map[int64]int64) model.Unused {
			return model.Unused{Module: 1, Class: p.S.Strings.Intern("Loss"), File: p.S.Strings.Intern("/home/u/train.py"), Line: line,
				Sizes: sizes}
		}
		p.P.Asked = []model.Asked{{Time: p.T}}
		p.P.Unused = []model.Unused{unused(41, map[int64]int64{99: 1}), unused(40, c.sizes)} // the later one counts
		res, _ := find(t, p)
		f := res.Findings[0]
		switch {
		case c.high == 0 && f.Cause == finding.UnusedGradients, c.high > 0 && f.Cause != finding.UnusedGradients:
			t.Errorf("%s: %s first", c.name, f.Cause)
		case c.high > 0 && (f.Where.Line != 40 || math.Abs(f.Step.Low/(0.6*c.low*backward)-0.85) > 0.05 ||
			math.Abs(f.Step.High/(1.1*c.high*backward)-1.12) > 0.05): // few samples of the backward pass widen it
			t.Errorf("%s: line %d, %.1f to %.1f ms, want line 40, %.1f to %.1f", c.name, f.Where.Line, f.Step.Low/1e6, f.Step.High/1e6,
				0.6*c.low*backward/1e6, 1.1*c.high*backward/1e6)
		}
		p.P.Updates[0].Time = p.T + 1
		if res, _ := find(t, p); res.Findings[0].Cause == finding.UnusedGradients {
			t.Errorf("%s: named though an optimizer began to step after the last look", c.name)
		}
	}
}
