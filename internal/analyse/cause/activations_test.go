package cause_test

import (
	"cmp"
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// recomputed is a training whose layers are called at a line of the model's by a function of a file, and again in the backward pass.
func recomputed(file string, ms int) *testkit.Program {
	p := testkit.NewProgram()
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	asked := []testkit.Frame{module, loop(40), call, user("forward", 10, 14)}
	backward := []testkit.Frame{module, loop(41), torchFrame("_tensor.py", "Tensor.backward"),
		torchFrame("autograd/__init__.py", "backward"), torchFrame("autograd/graph.py", "_engine_run_backward")}
	at := func(frames []testkit.Frame, more ...testkit.Frame) []testkit.Frame {
		return slices.Concat(frames, more)
	}
	layer := []testkit.Frame{call, user("Block.forward", 20, 24), call, torchFrame("nn/modules/linear.py", "Linear.forward")}
	p.Steps(40, model.PhaseBaseline,
		testkit.Native(30, at(at(asked, torchFrame(file, "checkpoint")), layer...)...),
		testkit.Native(ms, at(at(backward, torchFrame(file, "unpack_hook"), torchFrame(file, "recompute_fn")), layer...)...),
		testkit.Python(ms/6, at(backward, torchFrame(file, "unpack_hook"), torchFrame("random.py", "fork_rng"))...),
		testkit.Native(50, backward...))
	return p
}

// What the backward pass computes again is named at the line whose layers keep nothing, with the bookkeeping beside it.
func TestActivationsThatAreComputedAgain(t *testing.T) {
	res, _ := find(t, recomputed("utils/checkpoint.py", 30))
	f := want(t, res, finding.Again, "activations", 14, 0)
	if ms := f.Step.Mid / 1e6; ms < 34 || ms > 39 || f.Step.Low < 25e6 { // 30 ms and 5 of bookkeeping
		t.Errorf("saves %+v", f.Step)
	}
	for name, p := range map[string]*testkit.Program{
		"another function": recomputed("utils/hooks.py", 30),
		"a small part":     recomputed("utils/checkpoint.py", 1),
	} {
		res, _ := find(t, p)
		for _, f := range res.Findings {
			if f.Cause == finding.Again {
				t.Errorf("%s: %s, %+v", name, f.Title, f.Step)
			}
		}
	}
}

// An argument that stands once in the program is the place.
func TestActivationsOfATrainerAreSwitchedAtItsArgument(t *testing.T) {
	p := recomputed("utils/checkpoint.py", 30)
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py",
		Lines: []string{"import trainer", "options = trainer.Options(gradient_checkpointing=True)"}}
	res, _ := find(t, p)
	want(t, res, finding.Again, "activations", 2, 0)
}

// recomputedOnDevice is a training on a device: the driving thread waits for 60 ms of each step for the backward pass, in whose first 30
// another thread computes again, by a stack that begins with start. Of each traced step the device computes so many ms, a fourth again.
func recomputedOnDevice(start testkit.Frame, device model.Dur) *testkit.Program {
	const ms, engine = 1_000_000, 101
	p := testkit.NewProgram()
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	layer := []testkit.Frame{call, user("Block.forward", 20, 24), call, torchFrame("nn/modules/linear.py", "Linear.forward")}
	forward := testkit.Native(30, slices.Concat([]testkit.Frame{module, loop(40), call, user("forward", 10, 14),
		torchFrame("utils/checkpoint.py", "checkpoint")}, layer)...)
	backward := testkit.Blocked(60, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward"))
	p.Steps(40, model.PhaseBaseline, forward, backward)
	sm := &p.P.Samples
	for step := range 40 {
		first := sm.Len()
		p.Do(testkit.Native(30, slices.Concat([]testkit.Frame{start, torchFrame("utils/checkpoint.py", "recompute_fn")}, layer)...))
		for i := first; i < sm.Len(); i++ {
			sm.Thread[i], sm.Time[i] = engine, sm.Time[90*step+30+i-first]+ms/4
		}
	}
	inTime(sm)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev, traced := &t.Events, []model.Time{}
	for range 3 {
		traced = append(traced, p.T)
		p.Steps(1, model.PhaseTrace, forward, backward)
	}
	op := func(start model.Time, dur model.Dur, name string, parent model.EventID, sequence int64, thread int32) model.EventID {
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: sequence, FwdThread: thread})
		return p.Event(ev, start, dur, name, model.KindOp, parent, int32(len(ev.OpDetails)-1))
	}
	for _, at := range traced {
		op(at, 30*ms, "aten::linear", model.NoEvent, 1, 0)
	}
	own := model.EventID(ev.Len())
	var launches []model.EventID
	for _, at := range traced {
		node := op(at+30*ms, 60*ms, "autograd::engine::evaluate_function: AddmmBackward0", model.NoEvent, 1, 1)
		inside := op(at+30*ms, 60*ms, "AddmmBackward0", node, 1, 1)
		again := op(at+31*ms, ms, "aten::linear", inside, 2, 0)
		launches = append(launches, p.Event(ev, at+31*ms, 10_000, "cudaLaunchKernel", model.KindRuntime, again, -1))
		gradients := op(at+33*ms, ms, "aten::mm", inside, -1, 0)
		launches = append(launches, p.Event(ev, at+33*ms, 10_000, "cudaLaunchKernel", model.KindRuntime, gradients, -1))
	}
	theirs := model.EventID(ev.Len())
	for i, launch := range launches {
		k := p.Event(ev, ev.Start[launch]+ms, device*ms/4*model.Dur(1+2*(i%2)), "gemm", model.KindKernel, model.NoEvent, -1)
		ev.Link[k], ev.Lane[k] = launch, 2
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: own},
		{Kind: model.LaneThread, Thread: engine, FirstEvent: own, EndEvent: theirs},
		{Kind: model.LaneStream, FirstEvent: theirs, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// inTime puts samples in the order of their times.
func inTime(sm *model.Samples) {
	order := make([]int, sm.Len())
	for i := range order {
		order[i] = i
	}
	old := *sm
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(old.Time[a], old.Time[b]) })
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	for _, i := range order {
		sm.Time, sm.Thread, sm.Stack = append(sm.Time, old.Time[i]), append(sm.Thread, old.Thread[i]), append(sm.Stack, old.Stack[i])
		sm.State, sm.Flags = append(sm.State, old.State[i]), append(sm.Flags, old.Flags[i])
	}
}

// For a device, autograd's own thread computes again while the driving one waits: its samples tell how long. Where the device sets the pace
// it is the kernels' time that counts. A thread that the program has started computes forwards.
func TestActivationsOnADevice(t *testing.T) {
	hook := torchFrame("utils/checkpoint.py", "unpack_hook")
	for _, c := range []struct {
		name      string
		start     testkit.Frame
		device    model.Dur // ms that it computes for a step of 90
		low, high float64
	}{
		{"the device idles", hook, 20, 29, 33},
		{"it sets the pace", hook, 84, 19, 21},
		{"it has its own work to do", hook, 71, 29, 33},
		{"a thread that goes forward", torchFrame("nn/parallel/parallel_apply.py", "_worker"), 20, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, recomputedOnDevice(c.start, c.device))
			if c.high == 0 {
				for _, f := range res.Findings {
					if f.Cause == finding.Again {
						t.Errorf("%s", f.Title)
					}
				}
				return
			}
			f := want(t, res, finding.Again, "activations", 14, 0)
			if ms := f.Step.Mid / 1e6; ms < c.low || ms > c.high || f.Step.Low <= 0 {
				t.Errorf("saves %+v", f.Step)
			}
		})
	}
}
