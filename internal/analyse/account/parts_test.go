package account_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestPartsOfStepsTellOfOperators: a window was cut after a twentieth of the only step that was traced. What it saw stands for all of it.
func TestPartsOfStepsTellOfOperators(t *testing.T) {
	p := testkit.NewProgram()
	main := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p.Steps(6, model.PhaseBaseline, testkit.Native(1000, main))
	tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, To: p.T + 50e6}
	for i := range model.Time(1000) { // 20 of 50 µs each, with 0.5 µs for recording it
		p.Event(&tr.Events, p.T+i*50e3, 20e3, "aten::add", model.KindOp, model.NoEvent, int32(len(tr.Events.OpDetails)))
		tr.Events.OpDetails = append(tr.Events.OpDetails, model.OpDetail{})
	}
	tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: 1000}}
	p.Steps(1, model.PhaseEdge, testkit.Native(1100, main))
	p.S.Traces = append(p.S.Traces, tr)
	o := account.Of(p.S, account.Driver(p.S)).Ops
	if o == nil || !o.Parts {
		t.Fatalf("%+v", o)
	}
	want := 1000 * 1e9 / (50e6 - 1000*500)
	if math.Abs(o.Top-want) > 1 || math.Abs(o.Small-want) > 1 || o.Time < want*19.5e3 || o.Time > want*20e3 {
		t.Errorf("%.0f operators, %.0f of them short, %.0f ns per step; want %.0f, each of 19.5 to 20 µs", o.Top, o.Small, o.Time, want)
	}
	p.S.Traces[0].To = p.T // more than half of a step is a step
	p.P.Steps[6].Phase = model.PhaseTrace
	if o := account.Of(p.S, account.Driver(p.S)).Ops; o == nil || o.Parts {
		t.Errorf("%+v", o)
	}
}

// A device's runtime makes recording dearer: the part of a step that was recorded may last longer than a whole one does else. Without a
// device such a part belongs to a step of another length.
func TestPartsOfStepsOnADevice(t *testing.T) {
	for _, device := range []bool{true, false} {
		p := testkit.NewProgram()
		main := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
		p.Steps(6, model.PhaseBaseline, testkit.Native(48, main))
		tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, To: p.T + 50e6}
		for i := range model.Time(500) { // 20 of 100 µs each
			op := p.Event(&tr.Events, p.T+i*100e3, 20e3, "aten::add", model.KindOp, model.NoEvent, -1)
			if device {
				p.Event(&tr.Events, p.T+i*100e3+5e3, 5e3, "cudaLaunchKernel", model.KindRuntime, op, -1)
			} else {
				p.Event(&tr.Events, p.T+i*100e3+5e3, 5e3, "aten::empty", model.KindOp, op, -1)
			}
		}
		tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: 1000}}
		p.Steps(1, model.PhaseEdge, testkit.Native(130, main))
		p.S.Traces = append(p.S.Traces, tr)
		o := account.Of(p.S, account.Driver(p.S)).Ops
		if (o != nil) != device || device && (math.Abs(o.Top-500) > 1 || math.Abs(o.CostPer-2000) > 1) {
			t.Errorf("with a device: %v, operators %+v; want 500 a step, of which recording takes 2 µs an event", device, o)
		}
	}
}
