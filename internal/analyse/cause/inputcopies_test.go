package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// fetchesOnDevice builds steps of 40 ms that wait for a batch of 32 samples for 30 of them, which line 8 of the program fetches itself; a
// device computes what they launch. In traced steps each fetch copies so many times to the device, in operators that take copying ms
// together; none: no step is traced.
func fetchesOnDevice(copies, copying int, source string) *testkit.Program {
	const ms = 1_000_000
	p := testkit.NewProgram()
	p.S.Environment.CPUs = 16
	p.S.Environment.Threads["torch.get_num_threads"] = "16"
	p.P.Loaders = []model.Loader{{BatchSize: 32, Dataset: "Clicks", Length: 10000, File: p.S.Strings.Intern("/home/u/train.py"), Line: 25}}
	lines := make([]string, 60)
	lines[24] = "    loader = DataLoader(Clicks(), batch_size=32)"
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
	p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: append(make([]string, 7), source)}
	acts := []testkit.Act{testkit.Native(30, module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
		torchFrame("utils/data/_utils/fetch.py", "fetch"), user("__getitem__", 5, 8)).In(model.SpanDataWait),
		testkit.Native(10, module, loop(40))}
	p.Steps(20, model.PhaseBaseline, acts...)
	if copying > 0 {
		traceFetches(p, acts, copies, copying)
	}
	p.Steps(1, model.PhaseBaseline, acts...)
	for i := range p.P.Steps {
		p.P.Steps[i].DeviceDur = 40 * ms
	}
	return p
}

// traceFetches adds traced steps.
func traceFetches(p *testkit.Program, acts []testkit.Act, copies, copying int) {
	const ms = 1_000_000
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Device: true}}
	ev := &t.Events
	type launch struct {
		call model.EventID
		kind model.Kind
	}
	var launches []launch
	call := func(at model.Time, dur model.Dur, name string, kind model.Kind) {
		op := p.Event(ev, at, dur, name, model.KindOp, model.NoEvent, -1)
		if kind != model.KindOther {
			launches = append(launches, launch{p.Event(ev, at+model.Time(dur/4), dur/4, "cudaLaunch", model.KindRuntime, op, -1), kind})
		}
	}
	for range 4 {
		for i := range copies {
			call(p.T+model.Time(i*30*ms/copies), model.Dur(copying*ms/copies), "aten::to", model.KindMemcpy)
		}
		if copies == 0 {
			call(p.T, model.Dur(copying*ms), "aten::div", model.KindOther)
		}
		call(p.T+30*ms, 9*ms, "aten::linear", model.KindKernel)
		p.Steps(1, model.PhaseTrace, acts...)
	}
	thread := model.EventID(ev.Len())
	for _, l := range launches {
		name := "Memcpy HtoD (Pageable -> Device)"
		if l.kind == model.KindKernel {
			name = "ampere_sgemm_128x64_nn"
		}
		id := p.Event(ev, ev.End(l.call), 1000, name, l.kind, model.NoEvent, -1)
		ev.Lane[id], ev.Link[id], ev.Op[id] = 1, l.call, ev.Parent[l.call]
		ev.Link[l.call] = id
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Device: -1, Thread: int64(p.P.PID), EndEvent: thread},
		{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

// A worker that is forked cannot use the device: where the program's own fetches do, workers would end it. Samples that are copied to the
// device one by one are the cause; the price is what their copies take by the traces.
func TestSamplesCopiedToTheDevice(t *testing.T) {
	const makes, moves = `return torch.tensor(row, device="cuda")`, `return self.prepare(index).to(device)`
	for name, x := range map[string]struct {
		copies, copying int // in a fetch, and ms of it; 0: no trace
		source          string
		sub             string
		line            int
		saved           float64 // ms a step
		says            string
	}{
		"each sample":       {64, 20, makes, "copies", 8, 25, "input.fix-copies"},
		"few of the fetch":  {64, 3, moves, "transform", 8, 0, "input.fix-device"},
		"each batch":        {1, 1, moves, "transform", 8, 0, "input.fix-device"},
		"told by its line":  {0, 0, makes, "transform", 8, 0, "input.fix-device"},
		"nor by its trace":  {0, 20, makes, "workers", 25, 0, "input.fix-workers"},
		"none":              {0, 20, "return self.prepare(index)", "workers", 25, 0, "input.fix-workers"},
		"none, by its line": {0, 0, "return self.prepare(index)", "workers", 25, 0, "input.fix-workers"},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := find(t, fetchesOnDevice(x.copies, x.copying, x.source))
			f := want(t, res, finding.Input, x.sub, x.line, x.saved)
			if textOf(f.Fix.Advice, x.says) == "" {
				t.Errorf("advice %q lacks %s", wording.Sentences(f.Fix.Advice), x.says)
			}
			if change := f.Fix.Action.Change(); strings.Contains(change, "num_workers") != (x.sub == "workers") {
				t.Errorf("change %q", change)
			}
		})
	}
}

// Operators that launch work of a device leave the cores to workers: threads of the CPU compute no part of them.
func TestWorkersBesideADevice(t *testing.T) {
	p := fetchesOnDevice(0, 20, "return self.prepare(index)")
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "workers", 25, 0)
	if f.Fix.Action.With != "" || textOf(f.Fix.Advice, "input.fix-leave") != "" {
		t.Errorf("change %q with %q: the model computes on the device", f.Fix.Action.Change(), f.Fix.Action.With)
	}
	p.S.Traces = nil
	for i := range p.P.Steps {
		p.P.Steps[i].DeviceDur = 0
	}
	res, _ = find(t, p)
	if f = want(t, res, finding.Input, "workers", 25, 0); f.Fix.Action.With == "" {
		t.Errorf("change %q: sixteen threads of the CPU compute the operators", f.Fix.Action.Change())
	}
}
