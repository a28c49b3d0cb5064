package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// roundTrip builds steps of 100 ms: a kernel is launched, line 12 asks for its result and waits for 50 ms, and NumPy looks that up for 40
// ms in line 13; the loss is computed from the answer. busy is for how long of these 40 ms the device works.
func roundTrip(busy int) *testkit.Program {
	const ms = 1_000_000
	p := testkit.NewProgram()
	lines := make([]string, 20)
	for n, text := range map[int]string{
		10: "    def lookup(self, ids):",
		12: "        ids = ids.cpu().numpy()",
		13: "        found = np.searchsorted(self.known, ids)",
		14: "        return torch.from_numpy(found).to(self.device)",
	} {
		lines[n-1] = text
	}
	train := make([]string, 90)
	for n, text := range map[int]string{30: "def train(model):", 39: "    ids = sampler.lookup(draw())", 40: "    loss = model(ids).mean()",
		41: "    loss.backward()"} {
		train[n-1] = text
	}
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}, "/home/u/train.py": {Lines: train}}
	numpy := testkit.Frame{File: "/opt/torch/.venv/lib/python3.12/site-packages/numpy/_core/fromnumeric.py", Function: "_wrapfunc",
		First: 48, Line: 57}
	acts := []testkit.Act{testkit.Native(6, module, loop(40)),
		testkit.Native(4, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
		testkit.Native(50, module, loop(39), user("lookup", 10, 12)), testkit.Native(40, module, loop(39), user("lookup", 10, 13), numpy)}
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
		id := p.Event(ev, ev.Start[call]+ms, model.Dur(58+busy)*ms, "gemm", model.KindKernel, model.NoEvent, -1)
		ev.Lane[id], ev.Link[id], ev.Link[call] = 1, call, id
	}
	tr.To = p.T
	tr.Lanes = []model.Lane{{Kind: model.LaneThread, Device: -1, Thread: int64(p.P.PID), EndEvent: thread},
		{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, tr)
	return p
}

// What a library computes from a device's results while the device has no work is a round trip, which operators on tensors end.
func TestLibrariesThatTheDeviceWaitsFor(t *testing.T) {
	for busy, advice := range map[int]string{0: "python.fix-round-trip", 15: "python.fix-library-loss"} {
		res, _ := find(t, roundTrip(busy))
		f := want(t, res, finding.Python, "", 13, 38)
		if f.Fix.Advice[0].ID != advice {
			t.Errorf("%d ms of work: %q", busy, f.Fix.Advice)
		}
		fetched := ""
		for _, e := range f.Evidence {
			if e.ID == "python.fetched" {
				fetched = e.Facts[0].Name
			}
		}
		if (fetched == "lib.py:12") != (busy == 0) {
			t.Errorf("%d ms of work: fetched at %q", busy, fetched)
		}
	}
}
