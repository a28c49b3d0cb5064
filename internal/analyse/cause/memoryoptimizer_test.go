package cause_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// chains is a program with a step of 100 ms, in which an optimizer and the program's own element-wise chain take so long; a trace covers
// one step. Of the optimizer's time operators of names that do not end in "_" make new tensors. inner are frames inside of the optimizer's.
func chains(own int, optimizer map[string]int, inner ...testkit.Frame) *testkit.Program {
	p := testkit.NewProgram()
	at := 0
	for _, t := range optimizer {
		at += t
	}
	step := append([]testkit.Frame{module, loop(42), torchFrame("optim/adam.py", "step")}, inner...)
	acts := []testkit.Act{testkit.Native(100-own-at, module, loop(40)), testkit.Native(own, module, loop(41), user("mix", 10, 12)),
		testkit.Native(at, step...)}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	now := p.T
	add := func(ms int, name string, kind model.Kind, parent model.EventID) model.EventID {
		p.Event(ev, now, model.Dur(ms)*1e6, name, kind, parent, -1)
		if kind == model.KindOp {
			now += model.Time(ms) * 1e6
		}
		return model.EventID(ev.Len() - 1)
	}
	p.Steps(1, model.PhaseTrace, acts...)
	add(100-own-at, "aten::mm", model.KindOp, model.NoEvent)
	if own > 0 {
		add(own, "aten::mul", model.KindOp, model.NoEvent)
	}
	of := add(at, "Optimizer.step#Adam.step", model.KindAnnotation, model.NoEvent)
	for name, ms := range optimizer {
		add(ms, name, model.KindOp, of)
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// The optimizer's chain is priced alone, by how much of it makes new tensors: its cure leaves the program's own chain as it is.
func TestTheOptimizersChainIsPricedAlone(t *testing.T) {
	for _, c := range []struct {
		name      string
		own       int
		optimizer map[string]int
		stepMs    float64
	}{
		{"mostly new tensors", 10, map[string]int{"aten::sqrt": 36, "aten::div": 18, "aten::addcmul_": 6}, 60 * (0.96*0.9 + 0.35*0.1)},
		{"some new tensors", 0, map[string]int{"aten::sqrt": 10, "aten::addcmul_": 20, "aten::lerp_": 20}, 50 * 0.8},
		{"in place", 0, map[string]int{"aten::mul_": 20, "aten::add_": 20}, 40 * 0.35},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, chains(c.own, c.optimizer))
			f := want(t, res, finding.MemoryBound, "", 42, 0)
			if got := f.Step.Mid / 1e6; math.Abs(got-c.stepMs) > 0.5 || f.Fix.Action.Change() != "fused=True" {
				t.Errorf("saves %.1f ms by %q, want %.1f", got, f.Fix.Action.Change(), c.stepMs)
			}
			if n := len(res.Findings); n != 1 && res.Findings[1].Cause == finding.MemoryBound {
				t.Errorf("%d findings; the program's own chain is too small for one", n)
			}
		})
	}
	res, _ := find(t, chains(34, map[string]int{"aten::sqrt": 24, "aten::div": 12, "aten::addcmul_": 4}))
	if len(res.Findings) < 2 || res.Findings[0].Where.Line != 42 || res.Findings[1].Where.Line != 12 ||
		strings.Contains(wording.Sentences(res.Findings[1].Fix.Advice), "fused=True") {
		t.Errorf("findings %+v, want the optimizer's chain and the program's own, each with its cure", res.Findings)
	}
}

// Drawing random numbers, as dropout does, is work of the core that reads nothing: a compiler that fuses chains does not end it.
func TestRandomNumbersAreNoChain(t *testing.T) {
	for name, bound := range map[string]bool{"aten::mul": true, "aten::bernoulli_": false, "aten::normal_": false} {
		p := chains(60, map[string]int{"aten::add_": 2})
		names := p.S.Traces[0].Events.Name
		for i := range names {
			if p.S.Strings.Text(names[i]) == "aten::mul" {
				names[i] = p.S.Strings.Intern(name)
			}
		}
		res, b := find(t, p)
		found := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.MemoryBound })
		if found != bound {
			t.Errorf("%s: memory-bound is %v, want %v", name, found, bound)
		}
		if kind := b.Ops.Kinds[0].Kind; !bound && kind != naming.OpRandom {
			t.Errorf("%s is of kind %q", name, kind)
		}
	}
}

// An optimizer that the program writes itself takes no fused=True: the advice is one that does, and no line is changed.
func TestAnOptimizerOfTheProgramsOwn(t *testing.T) {
	p := chains(0, map[string]int{"aten::sqrt": 36, "aten::div": 24}, user("Own.step", 60, 66))
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: []string{"class AdamOwn(torch.optim.Optimizer):"}}
	res, _ := find(t, p)
	f := want(t, res, finding.MemoryBound, "", 66, 0)
	if f.Fix.Action.Change() != "" || !strings.Contains(wording.Sentences(f.Fix.Advice), "in place of this one") {
		t.Errorf("fix %q, change %q, want another optimizer and no change of this one", wording.Sentences(f.Fix.Advice),
			f.Fix.Action.Change())
	}
}
