package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// stepOp is an operator of a traced step: when it begins within that, how long it lasts, and what encloses it (the place in the list, or
// -1).
type stepOp struct {
	name     string
	at, dur  float64 // ms
	within   int
	launches bool // it hands the device a kernel
}

// opsOnDevice is a program whose 30 steps of 100 ms call an operator at line 24 for 60 ms and Python for 40. Its traced steps are as
// stepsOnDevice has them.
func opsOnDevice(kernel float64, ops ...stepOp) *testkit.Program {
	return stepsOnDevice(kernel, []testkit.Act{testkit.Native(60, module, loop(40), user("forward", 20, 24)),
		testkit.Python(40, module, loop(41))}, ops...)
}

// stepsOnDevice is a program of 30 steps. The operators stand in each of three traced ones; a kernel that one of them launches lasts for so
// many ms.
func stepsOnDevice(kernel float64, acts []testkit.Act, ops ...stepOp) *testkit.Program {
	ms := func(t float64) model.Dur { return model.Dur(t * 1e6) }
	p := testkit.NewProgram()
	p.Steps(30, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Device: true}}
	ev := &t.Events
	var launches []model.EventID
	for range 3 {
		var ids []model.EventID
		for _, op := range ops {
			parent := model.NoEvent
			if op.within >= 0 {
				parent = ids[op.within]
			}
			id := p.Event(ev, p.T+model.Time(ms(op.at)), ms(op.dur), op.name, model.KindOp, parent, -1)
			ids = append(ids, id)
			if op.launches {
				launches = append(launches, p.Event(ev, p.T+model.Time(ms(op.at)), 20_000, "cudaLaunchKernel", model.KindRuntime, id, -1))
			}
		}
		p.Steps(1, model.PhaseTrace, acts...)
	}
	thread := model.EventID(ev.Len())
	for _, launch := range launches {
		id := p.Event(ev, ev.Start[launch]+30_000, ms(kernel), "kernel", model.KindKernel, model.NoEvent, -1)
		ev.Lane[id], ev.Link[id], ev.Op[id], ev.Link[launch] = 1, launch, ev.Parent[launch], id
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Device: -1, Thread: int64(p.P.PID), EndEvent: thread},
		{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// found is the finding of a cause and sub, if there is one.
func found(t *testing.T, p *testkit.Program, id string, sub string) *finding.Finding {
	t.Helper()
	res, _ := find(t, p)
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Cause == id && f.Sub == sub {
			return f
		}
	}
	return nil
}

// Attention for which cuDNN makes a plan in each step is named at its line, by its share of the operators. Nothing is said where it has its
// plan, where the device sets the pace, or of another implementation.
func TestPlansOfAttention(t *testing.T) {
	const planned = "aten::_scaled_dot_product_cudnn_attention"
	for name, c := range map[string]struct {
		name   string
		takes  float64 // ms
		kernel float64
		share  float64 // 0: not found
	}{
		"a plan":            {planned, 40, 5, 0.4},
		"no plan":           {planned, 4, 5, 0},
		"the device's pace": {planned, 40, 90, 0},
		"no cuDNN":          {"aten::_scaled_dot_product_flash_attention", 40, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := opsOnDevice(c.kernel, stepOp{c.name, 10, c.takes, -1, true}, stepOp{"aten::linear", 55, 60 - c.takes, -1, true})
			lines := make([]string, 50)
			lines[0], lines[39] = "import torch", "for batch in batches:"
			p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
			f := found(t, p, finding.Launch, "plans")
			if c.share == 0 {
				if f != nil {
					t.Errorf("found %+v", f)
				}
				return
			}
			if f == nil || math.Abs(f.Share-c.share) > 0.03 || f.Where.Line != 24 || math.Abs(f.Step.Mid-38e6) > 3e6 {
				t.Fatalf("found %+v", f)
			}
			if a := f.Fix.Action; a.Code != "torch.backends.cuda.enable_cudnn_sdp(False)" || a.Line != 40 {
				t.Errorf("change %+v", a)
			}
		})
	}
}

// A sparse matrix that two products of a step put in order is to be ordered where it is made. One product in a step may have a new one, a
// program that orders it itself has its reason, and where a line makes the matrix that line is the change.
func TestSparseMatricesThatProductsOrder(t *testing.T) {
	const order = "aten::_coalesce"
	twice := []stepOp{{"aten::addmm", 0, 15, -1, true}, {order, 1, 10, 0, false}, {"aten::addmm", 20, 15, -1, true}, {order, 21, 10, 2, false},
		{"aten::linear", 40, 30, -1, true}}
	asked := []stepOp{{"aten::coalesce", 0, 15, -1, true}, {order, 1, 10, 0, false}, {"aten::coalesce", 20, 15, -1, true},
		{order, 21, 10, 2, false}, {"aten::linear", 40, 30, -1, true}}
	for name, c := range map[string]struct {
		ops    []stepOp
		made   string
		change string
		found  bool
	}{
		"two products": {twice, "graph = torch.sparse_coo_tensor(ends, (a + b), size)",
			"graph = torch.sparse_coo_tensor(ends, (a + b), size).coalesce()", true},
		"made over lines":   {twice, "graph = torch.sparse_coo_tensor(ends,", "", true},
		"one product":       {twice[:2], "graph = torch.sparse_coo_tensor(ends, a, size)", "", false},
		"the program's own": {asked, "graph = torch.sparse_coo_tensor(ends, a, size).coalesce()", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := opsOnDevice(1, c.ops...)
			p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: []string{c.made, "x = torch.sparse.mm(graph, x)"}}
			f := found(t, p, finding.Again, "ordered")
			if f == nil != !c.found {
				t.Fatalf("found %+v", f)
			}
			if f != nil && (math.Abs(f.Share-0.2) > 0.03 || f.Where.Line != 2 || f.Fix.Action.New != c.change) {
				t.Errorf("found %+v", f)
			}
		})
	}
}

// A step that waits for data for most of its time launches for the rest: launching faster saves no more than that, though the device idles
// for all of it.
func TestLaunchingSavesNoMoreThanItTakes(t *testing.T) {
	var ops []stepOp
	for i := range 25 {
		ops = append(ops, stepOp{"aten::add", 70 + 1.2*float64(i), 1, -1, true})
	}
	wait := testkit.Blocked(70, module, loop(40), torchFrame("utils/data/dataloader.py", "__next__"))
	p := stepsOnDevice(0.1, []testkit.Act{wait, testkit.Native(20, module, loop(41), user("forward", 20, 24)),
		testkit.Python(10, module, loop(41), user("forward", 20, 24))}, ops...)
	for i := range p.P.Steps {
		start := p.P.Steps[i].Start
		p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanDataWait, Start: start, End: start + 70e6, Thread: p.P.PID, Loader: -1})
	}
	f := found(t, p, finding.Launch, "")
	if f == nil || f.Step.High > 31e6 || f.Step.Mid > 25e6 {
		t.Errorf("found %+v", f)
	}
}

// All that a device waits for is one finding, however many calls launch it: one graph, or larger batches, end it.
func TestADeviceWaitsForLaunchingOnce(t *testing.T) {
	var ops []stepOp
	for i := range 200 {
		ops = append(ops, stepOp{"aten::add", 0.48 * float64(i), 0.3, -1, true})
	}
	call, layer := torchFrame("nn/modules/module.py", "Module._call_impl"), torchFrame("nn/modules/linear.py", "Linear.forward")
	train, test := user("train", 20, 24), user("test", 30, 34)
	acts := []testkit.Act{testkit.Native(60, module, loop(41), train, call, layer), testkit.Native(36, module, loop(44), test, call, layer),
		testkit.Python(4, module, loop(41), train, call, layer)}
	res, _ := find(t, stepsOnDevice(0.1, acts, ops...))
	n := 0
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Cause == finding.Launch {
			if n++; f.Where.Line != 24 || f.Share < 0.9 {
				t.Errorf("found %+v", f)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d findings on launching", n)
	}
}
