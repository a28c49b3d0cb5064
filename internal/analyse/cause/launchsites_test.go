package cause_test

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"math"
	"slices"
	"strings"
	"testing"
)

// called is a number of operators of a step, one after the other, in a part of it.
type called struct {
	name string
	n    int
	us   int64
	grad bool // autograd's number is on it: on n that make nodes of the graph and on n of the backward pass
}

// tracedCalls adds three steps of 100 ms that a trace covers, with these operators one after the other; those named "step" lie in the
// optimizer's step.
func tracedCalls(p *testkit.Program, list ...called) { tracedStep(p, testkit.Native(100), list...) }

// tracedStep is tracedCalls with steps of one act.
func tracedStep(p *testkit.Program, act testkit.Act, list ...called) {
	tracedActs(p, []testkit.Act{act}, list...)
}

// tracedActs is tracedCalls with steps of these acts.
func tracedActs(p *testkit.Program, acts []testkit.Act, list ...called) {
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	add := func(at model.Time, dur int64, name string, kind model.Kind, parent model.EventID) model.EventID {
		return p.Event(ev, at, model.Dur(dur), name, kind, parent, -1)
	}
	for step := range 3 {
		at := p.T
		p.Steps(1, model.PhaseTrace, acts...)
		for _, c := range list {
			length, parent, name := c.us*1000+1000, model.NoEvent, c.name
			if name == "step" {
				parent, name = add(at, length*int64(c.n), "Optimizer.step#Adam.step", model.KindAnnotation, model.NoEvent), "aten::mul_"
			}
			for i := range c.n {
				id := add(at, c.us*1000, name, model.KindOp, parent)
				if fwd := int32(0); c.grad {
					if name == backwardOf {
						fwd = 1
					}
					ev.Detail[id] = int32(len(ev.OpDetails))
					ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: int64(10_000*step + i), FwdThread: fwd})
				}
				at += model.Time(length)
			}
		}
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

const backwardOf = "autograd::engine::evaluate_function: X"

// launches are the findings of tiny operators.
func launches(res cause.Result) (out []finding.Finding) {
	for _, f := range res.Findings {
		if f.Cause == finding.Launch {
			out = append(out, f)
		}
	}
	return out
}

// The optimizer's part of the tiny operators is told alone, and so is the loop's: each with its own share and its own cure.
func TestOptimizerIsToldAlone(t *testing.T) {
	p := testkit.NewProgram()
	adam := []testkit.Frame{module, loop(43), torchFrame("optim/optimizer.py", "wrapper"),
		torchFrame("optim/adam.py", "_single_tensor_adam")}
	cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(24, cell...), testkit.Python(16, cell...),
		testkit.Native(15, module, loop(41), user("block", 30, 31)), testkit.Native(25, adam...), testkit.Python(20, adam...))
	tracedCalls(p, called{name: "aten::add", n: 1200, us: 20}, called{name: "aten::mm", n: 1, us: 15_000},
		called{name: "step", n: 1250, us: 20})
	res, _ := find(t, p)
	got := launches(res)
	if len(got) != 2 {
		t.Fatalf("findings %+v, want the optimizer's and the loop's", res.Findings)
	}
	for i, want := range []struct {
		line  int
		share float64
		fix   string
	}{{23, 0.4, "launch.fix-loop"}, {43, 0.45, "launch.fix-optimizer"}} {
		f := got[i]
		if f.Where.Line != want.line || math.Abs(f.Share-want.share) > 0.03 || f.Fix.Advice[0].ID != want.fix {
			t.Errorf("%q at line %d, share %.2f, fix %q; want line %d, %.2f, %q", f.Title, f.Where.Line, f.Share,
				wording.Sentences(f.Fix.Advice), want.line, want.share, want.fix)
		}
	}
}

// A function that a training step and a validation call is one place: its lines stand in no second finding.
func TestPlaceOfTwoCallers(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, testkit.Native(30, module, loop(40), user("cell", 20, 23)),
		testkit.Python(20, module, loop(40), user("cell", 20, 23)),
		testkit.Native(30, module, loop(44), user("validate", 30, 31), user("cell", 20, 23)),
		testkit.Python(20, module, loop(44), user("validate", 30, 31), user("cell", 20, 23)), testkit.Native(20, module, loop(41)))
	tracedCalls(p, called{name: "aten::add", n: 2500, us: 20}, called{name: "aten::mm", n: 1, us: 20_000})
	res, _ := find(t, p)
	if got := launches(res); len(got) != 1 || got[0].Where.Line != 23 || got[0].Share < 0.8 {
		t.Errorf("findings %+v, want one of all calls", res.Findings)
	}
}

// An optimizer that is fused already has nothing more to cure; one that works on lists can be fused.
func TestOptimizerThatWorksOnListsAlready(t *testing.T) {
	for form, fix := range map[string]string{"_multi_tensor_adam": "launch.fix-lists", "_fused_adam": ""} {
		p := testkit.NewProgram()
		adam := []testkit.Frame{module, loop(43), torchFrame("optim/optimizer.py", "wrapper"), torchFrame("optim/adam.py", form)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)), testkit.Native(30, adam...), testkit.Python(20, adam...))
		tracedCalls(p, called{name: "aten::mm", n: 2, us: 25_000}, called{name: "step", n: 1500, us: 20})
		res, _ := find(t, p)
		got := launches(res)
		named := len(got) > 0 && got[0].Where.Line == 43
		if named != (fix != "") || named && got[0].Fix.Advice[0].ID != fix {
			t.Errorf("%s: findings %+v, want %q", form, res.Findings, fix)
		}
	}
}

// Where calls are spread over many lines no line is the place; those that share them are told. Where one stands out it is.
func TestEvenLinesHaveNoPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		times [4]int // ms on four lines of the driving function
		line  int
	}{{"even", [4]int{25, 25, 25, 25}, 0}, {"three of four", [4]int{34, 33, 30, 3}, 0},
		{"one stands out", [4]int{70, 10, 10, 10}, 40}, {"one of many", [4]int{40, 22, 20, 18}, 40}, {"two", [4]int{49, 47, 2, 2}, 40}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			var acts []testkit.Act
			for i, ms := range c.times {
				acts = append(acts, testkit.Native(ms-ms/3, module, loop(40+i)), testkit.Python(ms/3, module, loop(40+i)))
			}
			p.Steps(20, model.PhaseBaseline, acts...)
			tracedCalls(p, called{name: "aten::add", n: 4000, us: 20})
			res, _ := find(t, p)
			f := want(t, res, finding.Launch, "", c.line, 0)
			text := ""
			for _, e := range f.Evidence {
				text += e.String() + "\n"
			}
			if told := strings.Contains(text, "train.py:41"); c.line == 0 && !told {
				t.Errorf("the lines are not told: %s", text)
			}
			if spread := f.Title.ID == "launch.title-spread"; spread != (c.line == 0) {
				t.Errorf("title %q", f.Title)
			}
		})
	}
}

// The backward pass through what a loop called is part of the loop's price; a model called beside it keeps its own.
func TestBackwardIsOfWhatWasCalled(t *testing.T) {
	p := testkit.NewProgram()
	edges := []testkit.Frame{module, loop(40), user("forward", 20, 23)}
	back := testkit.Native(60, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward"))
	p.Steps(20, model.PhaseBaseline, testkit.Native(20, edges...), testkit.Python(20, edges...), back)
	tracedCalls(p, called{name: "aten::add", n: 1500, us: 10}, called{name: backwardOf, n: 2500, us: 20})
	res, _ := find(t, p)
	f := want(t, res, finding.Launch, "", 23, 0)
	if f.Share < 0.95 {
		t.Errorf("a share of %.2f, want that of the loop and of the backward pass through it", f.Share)
	}
}

// What no gradient flows through has no part in the backward pass: where few operators have a gradient, a metric's loop over elements
// is not what the backward pass is for.
func TestBackwardIsNotOfWhatHasNoGradient(t *testing.T) {
	for name, grad := range map[string]int{"few have one": 20, "all have one": 2000} {
		p := testkit.NewProgram()
		count := []testkit.Frame{module, loop(44), user("count", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(5, module, loop(40)), testkit.Python(5, module, loop(40)),
			testkit.Native(20, count...), testkit.Python(30, count...),
			testkit.Native(40, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward")))
		tracedCalls(p, called{name: "aten::mm", n: grad, us: 15, grad: true}, called{name: backwardOf, n: grad, us: 15, grad: true},
			called{name: "aten::item", n: 2020 - grad, us: 15})
		res, _ := find(t, p)
		f := want(t, res, finding.Launch, "", 23, 0)
		if alone := f.Share < 0.6; alone != (grad == 20) {
			t.Errorf("%s: a share of %.2f", name, f.Share)
		}
	}
}

// A call of a model that was looked at in a traced step tells whether a backward pass went through its operators, however few these are.
func TestBackwardIsOfTheModelsThatWereLookedAt(t *testing.T) {
	for name, through := range map[string]bool{"through": true, "not through": false} {
		p := testkit.NewProgram()
		act := []testkit.Frame{module, loop(44), user("act", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(5, module, loop(40)), testkit.Python(5, module, loop(40)),
			testkit.Native(20, act...), testkit.Python(30, act...),
			testkit.Native(40, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward")))
		tracedCalls(p, called{name: "aten::mm", n: 20, us: 15, grad: true}, called{name: backwardOf, n: 20, us: 15, grad: true},
			called{name: "aten::item", n: 2000, us: 15})
		of := map[bool]string{true: "aten::mm", false: "aten::item"}[through]
		ev := &p.S.Traces[0].Events
		for id := range ev.Len() {
			if p.S.Strings.Text(ev.Name[id]) == of && len(p.P.Asked) < 50 {
				p.P.Asked = append(p.P.Asked, model.Asked{Time: ev.Start[id], End: ev.End(model.EventID(id)), Module: 1,
					File: p.S.Strings.Intern(act[2].File), Line: 23})
			}
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Launch, "", 23, 0)
		if shared := f.Share > 0.6; shared != through {
			t.Errorf("%s: a share of %.2f", name, f.Share)
		}
	}
}

// A line with large operators is not the place, however long it takes: the one around whose operators the interpreter works is.
func TestLargeOperatorsAreNotThePlace(t *testing.T) {
	p := testkit.NewProgram()
	augment := []testkit.Frame{module, loop(39), user("augment", 10, 14)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(12, augment...), testkit.Python(13, augment...), testkit.Native(74, module, loop(40)),
		testkit.Python(1, module, loop(40)))
	tracedCalls(p, called{name: "aten::add", n: 1600, us: 8}, called{name: "aten::mm", n: 4, us: 18_000})
	res, _ := find(t, p)
	f := want(t, res, finding.Launch, "", 14, 0)
	if f.Share < 0.2 || f.Share > 0.28 {
		t.Errorf("a share of %.2f, want the 25 ms of 100 on the line", f.Share)
	}
}

// A cell that is called for one element after the other has a layer that takes them all. All of its time counts, also where its operators
// are not tiny, and its part of the backward pass; layers of other kinds save less.
func TestRecurrentCells(t *testing.T) {
	for cell, mid := range map[string]float64{"LSTMCell.forward": 60, "GRUCell.forward": 23} {
		p := testkit.NewProgram()
		read := []testkit.Frame{module, loop(40), user("read", 20, 23), torchFrame("nn/modules/module.py", "_call_impl"),
			torchFrame("nn/modules/rnn.py", cell)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(40, read...), testkit.Python(20, read...),
			testkit.Native(40, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward")))
		tracedCalls(p, called{name: "aten::lstm_cell", n: 300, us: 250})
		res, _ := find(t, p)
		f := want(t, res, finding.Launch, "", 23, mid)
		if f.Fix.Advice[0].ID != "launch.fix-cells" || f.Share < 0.95 {
			t.Errorf("%s: fix %q, a share of %.2f", cell, wording.Sentences(f.Fix.Advice), f.Share)
		}
	}
}

// A decoder that reads its own words must go on element by element: nothing is promised for sure.
func TestCellsThatReadTheirOwnAnswers(t *testing.T) {
	for source, low := range map[string]bool{
		"    h = self.cell(x[t], h)\n    out.append(h)":                      true,
		"    h = self.cell(word, h)\n    word = self.out(h).argmax(1)":       false,
		"    h = self.cell(self.table(word), h)\n    word = sample(self, h)": false,
	} {
		p := testkit.NewProgram()
		p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: append(make([]string, 21),
			append([]string{"for t in range(n):"}, strings.Split(source, "\n")...)...)}}
		read := []testkit.Frame{module, loop(40), user("read", 20, 23), torchFrame("nn/modules/module.py", "_call_impl"),
			torchFrame("nn/modules/rnn.py", "LSTMCell.forward")}
		p.Steps(20, model.PhaseBaseline, testkit.Native(80, read...), testkit.Python(20, read...))
		tracedCalls(p, called{name: "aten::lstm_cell", n: 300, us: 250})
		res, _ := find(t, p)
		f := want(t, res, finding.Launch, "", 23, 0)
		if (f.Step.Low > 0) != low || (f.Fix.Advice[0].ID == "launch.fix-cells") != low {
			t.Errorf("%s: %s, saves %+v", source, f.Fix.Advice[0].ID, f.Step)
		}
	}
}

// A model that is called for too little work, without a loop: the call is the place, and larger batches or fusing are the cure.
func TestCallForTooLittleWork(t *testing.T) {
	p := testkit.NewProgram()
	var acts []testkit.Act
	for line := 22; line < 26; line++ {
		stack := []testkit.Frame{module, loop(40), torchFrame("nn/modules/module.py", "_call_impl"), user("forward", 20, line),
			torchFrame("nn/modules/linear.py", "forward")}
		acts = append(acts, testkit.Native(1, stack...), testkit.Python(1, stack...))
	}
	p.Steps(40, model.PhaseBaseline, append(acts, testkit.Native(1, module, loop(41)))...)
	tracedStep(p, testkit.Native(9), called{name: "aten::linear", n: 150, us: 25})
	res, _ := find(t, p)
	if f := want(t, res, finding.Launch, "", 40, 0); f.Fix.Advice[0].ID != "launch.fix-call-more" {
		t.Errorf("fix %q", wording.Sentences(f.Fix.Advice))
	}
}

// Where the loop's line only calls train(), the line of that function which calls the model is the place.
func TestCallOfTheModelIsThePlace(t *testing.T) {
	p := testkit.NewProgram()
	var acts []testkit.Act
	for line := 22; line < 26; line++ {
		stack := []testkit.Frame{module, loop(40), user("train", 50, 58), torchFrame("nn/modules/module.py", "_call_impl"),
			user("forward", 20, line), torchFrame("nn/modules/linear.py", "forward")}
		acts = append(acts, testkit.Native(1, stack...), testkit.Python(1, stack...))
	}
	acts = append(acts, testkit.Native(1, module, loop(40), user("train", 50, 60)), testkit.Native(1, module, loop(41)))
	p.Steps(40, model.PhaseBaseline, acts...)
	tracedStep(p, testkit.Native(10), called{name: "aten::linear", n: 150, us: 25})
	res, _ := find(t, p)
	want(t, res, finding.Launch, "", 58, 0)
}

// On a CPU torch.compile is advised for chains of element-wise operators, not for small products of matrices, and what it takes at the
// start is taken off what the run saves.
func TestCompilingIsAdvisedWhereItPays(t *testing.T) {
	for _, c := range []struct {
		op     string
		steps  int
		advice string
		pays   bool
	}{{"aten::linear", 40, "launch.fix-spread-more", true}, {"aten::mul", 40, "launch.fix-spread", false},
		{"aten::mul", 2000, "launch.fix-spread", true}} {
		p := testkit.NewProgram()
		var acts []testkit.Act
		for line := 22; line < 34; line++ {
			stack := []testkit.Frame{module, loop(line)}
			acts = append(acts, testkit.Native(3, stack...), testkit.Python(3, stack...))
		}
		p.Steps(c.steps, model.PhaseBaseline, acts...)
		tracedStep(p, testkit.Native(72), called{name: c.op, n: 1500, us: 25})
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Cause != finding.Launch || f.Fix.Advice[0].ID != c.advice || f.Step.Mid <= 0 || (f.Run.Mid > 0) != c.pays {
			t.Errorf("%d steps of %s: %s of %s saves %.1f s of the run, want %s, and that it pays: %v", c.steps, c.op,
				f.Fix.Advice[0].ID, f.Cause, f.Run.Mid/1e9, c.advice, c.pays)
		}
	}
}

// A line in which a trainer does all of the step is a call, not a loop over tensors, however many operators it calls.
func TestTrainersLineIsNoLoop(t *testing.T) {
	p := testkit.NewProgram()
	fit := []testkit.Frame{module, loop(40)}
	p.Steps(40, model.PhaseBaseline, testkit.Native(20, fit...), testkit.Python(15, fit...),
		testkit.Native(30, append(fit, torchFrame("autograd/graph.py", "_engine_run_backward"))...))
	tracedCalls(p, called{name: "aten::linear", n: 1200, us: 20, grad: true}, called{name: backwardOf, n: 1200, us: 25, grad: true})
	res, _ := find(t, p)
	if f := want(t, res, finding.Launch, "", 40, 0); f.Fix.Advice[0].ID != "launch.fix-call-more" {
		t.Errorf("fix %q", wording.Sentences(f.Fix.Advice))
	}
}

// Tiny operators on many lines that take less than a fifth of the step are no finding where nothing is sure to end them.
func TestFewTinyOperatorsOnManyLines(t *testing.T) {
	p := testkit.NewProgram()
	acts := []testkit.Act{testkit.Native(110, module, loop(40), torchFrame("nn/modules/conv.py", "forward"))}
	for line := 22; line < 34; line++ {
		acts = append(acts, testkit.Native(1, module, loop(line)), testkit.Python(1, module, loop(line)))
	}
	p.Steps(200, model.PhaseBaseline, acts...)
	tracedStep(p, testkit.Native(134), called{name: "aten::linear", n: 2200, us: 5}, called{name: "aten::histc", n: 1, us: 110000})
	res, _ := find(t, p)
	if got := launches(res); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// A model of many layers is no loop over elements, though one line calls many operators: its call is the place. What loops beside it, over
// the parameters' gradients, has a finding of its own, and no part in the backward pass.
func TestLayersAndALoopBesideThem(t *testing.T) {
	p := testkit.NewProgram()
	net := []testkit.Frame{module, loop(40), torchFrame("nn/modules/module.py", "_call_impl"),
		torchFrame("nn/modules/linear.py", "forward")}
	// no call of the module
	clip := []testkit.Frame{module, loop(42), user("clip", 8, 11), torchFrame("nn/modules/module.py", "Module.state_dict")}
	adam := []testkit.Frame{module, loop(43), torchFrame("optim/optimizer.py", "wrapper")}
	p.Steps(20, model.PhaseBaseline, testkit.Native(20, net...), testkit.Python(10, net...),
		testkit.Native(30, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
		testkit.Native(10, clip...), testkit.Python(10, clip...), testkit.Python(11, adam...),
		testkit.Native(9, append(adam, torchFrame("optim/sgd.py", "_multi_tensor_sgd"))...))
	tracedCalls(p, called{name: "aten::linear", n: 1000, us: 20, grad: true}, called{name: backwardOf, n: 1000, us: 25, grad: true},
		called{name: "aten::norm", n: 1200, us: 20}, called{name: "step", n: 100, us: 20})
	res, _ := find(t, p)
	got := launches(res)
	if len(got) != 3 {
		t.Fatalf("findings %+v, want those of the model, the loop and the optimizer", res.Findings)
	}
	for line, want := range map[int]struct {
		share float64
		fix   string
	}{40: {0.6, "launch.fix-call-more"}, 11: {0.2, "launch.fix-loop-at-once"}, 43: {0.2, "launch.fix-lists"}} {
		i := slices.IndexFunc(got, func(f finding.Finding) bool { return f.Where.Line == line })
		if i < 0 {
			t.Errorf("nothing at line %d: %+v", line, got)
		} else if f := got[i]; math.Abs(f.Share-want.share) > 0.05 || f.Fix.Advice[0].ID != want.fix {
			t.Errorf("line %d: %q, fix %q, want a share of %.2f and %q", line, f.Title, wording.Sentences(f.Fix.Advice),
				want.share, want.fix)
		}
	}
}
