package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// recurrentProgram calls a recurrent layer n times in each step of 100 ms, which is all that it does.
func recurrentProgram(n int) *testkit.Program {
	p := testkit.NewProgram()
	tag := testkit.Native(60, module, loop(40), user("tag", 10, 12), torchFrame("nn/modules/rnn.py", "LSTM.forward"))
	back := testkit.Native(40, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward"))
	p.Steps(20, model.PhaseBaseline, tag, back)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	add := func(start, end model.Time, name string, parent model.EventID) {
		p.Event(ev, start, model.Dur(end-start), name, model.KindOp, parent, -1)
	}
	const ms = 1_000_000
	for range 3 {
		at := p.T
		p.Steps(1, model.PhaseTrace, tag, back)
		forth, after := 60*ms/model.Time(n), 40*ms/model.Time(n)
		for i := range model.Time(n) {
			start := at + i*forth
			outer := model.EventID(ev.Len())
			add(start, start+forth, "aten::lstm", model.NoEvent)
			add(start+forth/20, start+forth, "aten::mkldnn_rnn_layer", outer)
		}
		for i := range model.Time(n) {
			start := at + 60*ms + i*after
			add(start, start+after, "autograd::engine::evaluate_function: MkldnnRnnLayerBackward0", model.NoEvent)
		}
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

func TestRecurrentLayerCalledElementByElement(t *testing.T) {
	res, _ := find(t, recurrentProgram(40))
	want(t, res, finding.Launch, "", 12, 72)
	res, _ = find(t, recurrentProgram(4)) // four layers, each called for a whole sequence
	if res.Findings[0].Cause != finding.Compute {
		t.Errorf("a few calls: %+v", res.Findings[0])
	}
}

// A loop over a sequence that somebody wrote into a module is the place, where a step calls its few layers again and again; one over many
// layers is not.
func TestLoopOfAModuleOverASequence(t *testing.T) {
	const source = "def forward(self, x, h):\n    for t in range(x.size(1)):\n        h = torch.tanh(self.i(x[:, t]) + self.h(h))"
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	stack := []testkit.Frame{module, loop(40), call, {File: "/home/u/model.py", Function: "Model.forward", First: 1, Line: 3}, call,
		torchFrame("nn/modules/linear.py", "Linear.forward")}
	for parameters, advice := range map[int64]string{6: "launch.fix-sequence", 1200: "launch.fix-call-more"} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/model.py"] = &model.Source{Path: "/home/u/model.py", Lines: strings.Split(source, "\n")}
		p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: parameters, Steps: 10, Backwards: 10, Optimizers: 1}}
		p.Steps(40, model.PhaseBaseline, testkit.Native(30, stack...), testkit.Python(20, stack...),
			testkit.Native(12, module, loop(42), torchFrame("autograd/graph.py", "_engine_run_backward")))
		tracedStep(p, testkit.Native(62), called{name: "aten::addmm", n: 1500, us: 25})
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Cause != finding.Launch || f.Fix.Advice[0].ID != advice {
			t.Errorf("%d parameters: %s, %s", parameters, f.Cause, f.Fix.Advice[0].ID)
		} else if advice == "launch.fix-sequence" && (f.Where.Line != 3 || f.Step.Low != 0) {
			t.Errorf("at line %d, %+v", f.Where.Line, f.Step)
		}
	}
}
