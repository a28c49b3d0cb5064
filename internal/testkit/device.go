package testkit

import "bottleneck/internal/model"

// OnDevice is a program whose steps of 100 ms launch kernels for 20 ms, with Python between, and then wait in loss.item() for 80 ms, in
// which the device works for so many. The thread asks the device again and again, or sleeps. first is what a warm-up step does, if any.
func OnDevice(works int, sleeps bool, kernel string, first ...Act) *Program {
	const ms = 1_000_000
	at := func(line int, below ...Frame) []Frame {
		return append([]Frame{{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90},
			{File: "/home/u/train.py", Function: "train", First: 30, Line: line}}, below...)
	}
	layer := Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/modules/linear.py", Function: "Linear.forward", First: 1, Line: 9}
	p := NewProgram()
	if len(first) > 0 {
		p.Steps(1, model.PhaseWarmup, first...)
	}
	lines := make([]string, 90)
	lines[0], lines[38], lines[49] = "import torch", "    for batch in batches:", "        total += loss.item()"
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
	wait := Native(80, at(50)...)
	if sleeps {
		wait = Blocked(80, at(50)...)
	}
	acts := []Act{Native(10, at(40, layer)...),
		Python(10, at(40, layer)...), wait}
	p.Steps(30, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Device: true}}
	t.Header.Devices = []model.GPU{{Index: 0, Name: "NVIDIA A100-SXM4-40GB", ComputeMajor: 8, SMs: 108}}
	ev := &t.Events
	var starts []model.Time
	var launches []model.EventID
	for range 3 {
		starts = append(starts, p.T)
		op := p.Event(ev, p.T, 10*ms, "aten::linear", model.KindOp, model.NoEvent, -1)
		launches = append(launches, p.Event(ev, p.T+ms, 20_000, "cudaLaunchKernel", model.KindRuntime, op, -1))
		op = p.Event(ev, p.T+20*ms, 80*ms, "aten::item", model.KindOp, model.NoEvent, -1)
		p.Event(ev, p.T+20*ms, 80*ms, "cudaStreamSynchronize", model.KindRuntime, op, -1)
		p.Steps(1, model.PhaseTrace, acts...)
	}
	thread := model.EventID(ev.Len())
	for i, start := range starts { // from the launch to the end of what it does while the program waits
		id := p.Event(ev, start+20*ms, model.Dur(works)*ms, kernel, model.KindKernel, model.NoEvent, -1)
		ev.Lane[id], ev.Link[id], ev.Op[id] = 1, launches[i], ev.Parent[launches[i]]
		ev.Link[launches[i]] = id
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Device: -1, Thread: int64(p.P.PID), EndEvent: thread},
		{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	for i := range p.P.Steps {
		p.P.Steps[i].DeviceDur = 100 * ms
	}
	return p
}
