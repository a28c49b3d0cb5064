package cause_test

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"math"
	"slices"
	"testing"
)

// tracedHandWritten adds a step of 100 ms that a trace covers: five large operators of 9 ms, 500 tiny ones, and then 1,500 tiny ones
// in the optimizer's step.
func tracedHandWritten(p *testkit.Program) {
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	at := p.T
	add := func(dur model.Dur, name string, kind model.Kind, parent model.EventID) model.EventID {
		return p.Event(ev, at, dur, name, kind, parent, -1)
	}
	p.Steps(1, model.PhaseTrace, testkit.Native(100))
	tiny := func(n int, parent model.EventID) {
		for range n {
			add(20e3, "aten::mul", model.KindOp, parent)
			at += 25e3
		}
	}
	for range 5 {
		add(9e6, "aten::conv2d", model.KindOp, model.NoEvent)
		at += 9e6
	}
	tiny(500, model.NoEvent)
	tiny(1500, add(1500*25e3, "Optimizer.step#Own.step", model.KindAnnotation, model.NoEvent))
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

// A hand-written optimizer calls most of the tiny operators, although the model's few large ones take as long: the place is the
// optimizer's line, and only its part of the calling is promised.
func TestHandWrittenOptimizerIsThePlace(t *testing.T) {
	p := testkit.NewProgram()
	step := []testkit.Frame{module, loop(42), torchFrame("optim/optimizer.py", "wrapper"), user("step", 60, 66)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(45, module, loop(40), user("block", 10, 11)),
		testkit.Native(10, module, loop(43), user("average", 20, 23)), testkit.Python(5, module, loop(43), user("average", 20, 23)),
		testkit.Native(30, step...), testkit.Python(10, step...))
	tracedHandWritten(p)
	res, b := find(t, p)
	if o := b.Ops; o == nil || o.OptimizerSmall < 29e6 || o.OptimizerSmall > 31e6 || o.OptimizerTime != o.OptimizerSmall {
		t.Fatalf("the optimizer's operators: %+v, want 30 ms, all small", o)
	}
	f := want(t, res, finding.Launch, "", 66, 30)
	if f.Step.High > 46e6 {
		t.Errorf("at most %.1f ms are promised where the optimizer takes 40", f.Step.High/1e6)
	}
	if f.Fix.Advice[0].ID != "launch.fix-own-optimizer" {
		t.Errorf("a fix for the user's own optimizer: %q", wording.Sentences(f.Fix.Advice))
	}
}

// On a CPU only an optimizer that has a fused form there is told to use it, and none is told to go by lists, which is slower for larger
// parameters.
func TestOnlyFusedFormsAreAdvised(t *testing.T) {
	for _, c := range []struct {
		form, torch, fix, change string // no fix: nothing is found there
		source                   []string
	}{
		{"step", "2.15.0", "", "", nil},
		{"_single_tensor_adamw", "2.15.0", "launch.fix-optimizer", "fused=True", nil},
		{"_single_tensor_adamw", "2.1.2", "launch.fix-unfused", "", nil},
		{"_single_tensor_rmsprop", "2.15.0", "launch.fix-unfused", "", nil},
		{"_single_tensor_sgd", "2.15.0", "launch.fix-optimizer", "inner = SGD(fast, 0.1, fused=True)",
			[]string{"outer = Adam(slow)", "inner = SGD(fast, 0.1)"}},
		{"_single_tensor_sgd", "2.15.0", "launch.fix-optimizer", "fused=True", []string{"outer = Adam(slow)"}},
	} {
		p := testkit.NewProgram()
		p.S.Environment.Torch = c.torch
		p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: c.source}
		step := []testkit.Frame{module, loop(43), torchFrame("optim/optimizer.py", "wrapper"), torchFrame("optim/lbfgs.py", c.form)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), user("block", 10, 11)), testkit.Native(30, step...),
			testkit.Python(10, step...))
		tracedHandWritten(p)
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Launch && f.Where.Line == 43 })
		if i < 0 || c.fix == "" {
			if (i < 0) != (c.fix == "") {
				t.Errorf("%s: found %+v, want the optimizer: %v", c.form, res.Findings, c.fix != "")
			}
			continue
		}
		if f := &res.Findings[i]; f.Fix.Advice[0].ID != c.fix || f.Fix.Action.Change() != c.change {
			t.Errorf("%s on %s: %q, change %q, want %s and %q", c.form, c.torch, f.Fix.Advice[0].ID, f.Fix.Action.Change(), c.fix, c.change)
		}
	}
}

// Larger batches make all calling of a step rarer, the optimizer's too. Beside an optimizer that saves about as much by one argument they
// stand behind it, by what only they end.
func TestArgumentStandsBeforeLargerBatches(t *testing.T) {
	p := testkit.NewProgram()
	p.S.Environment.Torch = "2.15.0"
	adam := []testkit.Frame{module, loop(43), torchFrame("optim/optimizer.py", "wrapper"),
		torchFrame("optim/adam.py", "_single_tensor_adam")}
	var acts []testkit.Act
	for line := 20; line < 32; line++ {
		acts = append(acts, testkit.Native(2, module, loop(line)), testkit.Python(2, module, loop(line)))
	}
	p.Steps(40, model.PhaseBaseline, append(acts, testkit.Native(20, adam...), testkit.Python(15, adam...))...)
	tracedCalls(p, called{name: "aten::linear", n: 1200, us: 20}, called{name: "step", n: 1000, us: 20})
	res, b := find(t, p)
	got := launches(res)
	if len(got) != 2 || got[0].Where.Line != 43 || got[1].Step.Mid < got[0].Step.Mid || !got[1].Guess {
		t.Fatalf("%+v, want the optimizer first, then many lines of which more is guessed", got)
	}
	calling := func(f *finding.Finding) float64 {
		return (f.Booked[account.PartOps] + f.Booked[account.PartPython]) / float64(b.Steps())
	}
	all := calling(&got[0]) + calling(&got[1])
	if f := &got[1]; math.Abs(f.Bare.Step.Mid/all-0.5) > 0.01 || math.Abs(f.Shared-calling(&got[0])/all) > 0.01 {
		t.Errorf("larger batches save %.1f ms of %.1f ms of calling, %.2f of it others'", f.Bare.Step.Mid/1e6, all/1e6, f.Shared)
	}
}
