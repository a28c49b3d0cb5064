package account_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A step of 100 ms launches a kernel of 58 ms, asks for its result at 10 ms, which comes at 60, and looks that up for 40 ms in native code
// of a library while the device has nothing to do. What the device does not compute is not called so, whether the library is known or not.
func TestTheDeviceDoesNotComputeWhatTheHostDoes(t *testing.T) {
	const ms = 1_000_000
	at := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/train.py", Function: "step", First: 1, Line: line}
	}
	for file, want := range map[string]struct{ device, python float64 }{
		"/opt/torch/.venv/lib/python3.12/site-packages/numpy/_core/fromnumeric.py": {50, 40},
		"/opt/env/lib/python3.12/site-packages/lookup/table.py":                    {58, 0},
	} {
		p := testkit.NewProgram()
		acts := []testkit.Act{testkit.Native(10, at(8)), testkit.Native(50, at(9)),
			testkit.Native(40, at(10), testkit.Frame{File: file, Function: "searchsorted", First: 1, Line: 5})}
		p.Steps(20, model.PhaseBaseline, acts...)
		tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Device: true}}
		ev := &tr.Events
		var launches []model.EventID
		for range 4 {
			op := p.Event(ev, p.T, 10*ms, "aten::linear", model.KindOp, model.NoEvent, -1)
			launches = append(launches, p.Event(ev, p.T+ms, ms/20, "cudaLaunchKernel", model.KindRuntime, op, -1))
			op = p.Event(ev, p.T+10*ms, 50*ms, "aten::to", model.KindOp, model.NoEvent, -1)
			p.Event(ev, p.T+10*ms, 50*ms, "cudaMemcpyAsync", model.KindRuntime, op, -1)
			p.Steps(1, model.PhaseTrace, acts...)
		}
		thread := model.EventID(ev.Len())
		for _, call := range launches {
			id := p.Event(ev, ev.Start[call]+ms, 58*ms, "gemm", model.KindKernel, model.NoEvent, -1)
			ev.Lane[id], ev.Link[id], ev.Link[call] = 1, call, id
		}
		tr.To = p.T
		tr.Lanes = []model.Lane{{Kind: model.LaneThread, Device: -1, Thread: int64(p.P.PID), EndEvent: thread},
			{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())}}
		p.S.Traces = append(p.S.Traces, tr)
		b := account.Of(p.S, p.P)
		device, python := b.Part(account.PartGPUCompute)/20/ms, b.Part(account.PartPython)/20/ms
		if math.Abs(device-want.device) > 0.1 || math.Abs(python-want.python) > 0.1 {
			t.Errorf("%s: the device computes for %.1f ms of a step, Python for %.1f; want %+v", file, device, python, want)
		}
		sum := 0.0
		for i := range b.Parts {
			sum += b.Parts[i].Time
		}
		if math.Abs(sum-b.Total) > 1 {
			t.Errorf("%s: the parts sum to %v of %v", file, sum, b.Total)
		}
	}
}
