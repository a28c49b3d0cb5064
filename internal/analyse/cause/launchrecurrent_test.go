package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
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
