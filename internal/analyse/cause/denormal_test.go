package cause_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// Programs that compute with many denormal numbers are named, with a change that can be made and no promise that it saves; not where the
// processor met some and what modules are given holds few or was not counted, nor where no operator reads a tensor of that size.
func TestDenormalNumbers(t *testing.T) {
	const shapes = "[[16, 2, 8, 8], [4, 2, 3, 3]]"
	for _, c := range []struct {
		name       string
		looks, met float64
		found      int64 // of 4,096 numbers that a module is given
		size       int64
		named      bool
		shapes     string
	}{
		{"many, at all looks", 40, 40, 300, 2048, true, shapes}, {"at most looks", 40, 30, 300, 2048, true, shapes},
		{"at few looks", 40, 3, 300, 2048, false, shapes}, {"looked at twice", 2, 2, 300, 2048, false, shapes},
		{"nobody looked", 0, 0, 300, 2048, false, shapes}, {"few of them", 40, 40, 5, 2048, false, shapes},
		{"not counted", 40, 40, 0, 2048, false, shapes}, {"read by no operator", 40, 40, 300, 4096, false, shapes},
		{"no shapes", 40, 40, 300, 4096, true, ""},
	} {
		p := convolutionProgram("aten::mkldnn_convolution", "")
		p.S.Traces[0].Events.OpArgs[0].Shapes = p.S.Strings.Intern(c.shapes)
		p.P.Counters = map[string]float64{"denormal_looks": c.looks, "denormal_met": c.met}
		if c.found > 0 {
			p.P.Denormals = []model.Denormal{{Class: p.S.Strings.Intern("Conv2d"), File: p.S.Strings.Intern("/home/u/train.py"), Line: 40,
				Size: c.size, Read: c.size, Found: c.found * c.size / 4096}}
		}
		res, _ := find(t, p)
		named := false
		for i := range res.Findings {
			f := &res.Findings[i]
			if f.Cause != finding.Precision {
				continue
			}
			named = true
			if f.Sub != "denormal" || f.Step.Low != 0 || f.Step.Mid <= 0 || f.Fix.Action.Kind != finding.InsertLine ||
				textOf(f.Evidence, "precision.denormal-numbers") == "" {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if named != c.named {
			t.Errorf("%s: named %v, want %v", c.name, named, c.named)
		}
	}
}

// A program that was looked at once, at its end, and had met such numbers is told of a change that was not tried.
func TestDenormalNumbersSomewhere(t *testing.T) {
	for met, want := range map[float64]bool{1: true, 0: false} {
		p := testkit.NewProgram()
		p.Do(testkit.Native(3000, loop(40), torchFrame("nn/modules/conv.py", "forward")))
		p.P.Counters = map[string]float64{"denormal_looks": 1, "denormal_met": met}
		res, acc := find(t, p)
		told := slices.ContainsFunc(res.Untried(facts.NewFacts(p.S, acc), nil).Others, func(text wording.Text) bool {
			return text.ID == "measured.untried-denormal"
		})
		if told != want || slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Precision }) {
			t.Errorf("met %v: told %v, want %v; %+v", met, told, want, res.Findings)
		}
	}
}

// productsProgram trains: its backward pass takes back ms a step, in 16 products of the same shapes of which the last slow take eight times
// as long as the others. The first of its three traced steps has shapes, and the products are slow in so many of them.
func productsProgram(back, slow, in int) *testkit.Program {
	p := testkit.NewProgram()
	acts := []testkit.Act{testkit.Native(30, module, loop(40), torchFrame("nn/modules/linear.py", "Linear.forward")),
		testkit.Native(back, module, loop(42), torchFrame("autograd/__init__.py", "backward"))}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	ev.OpArgs = []model.OpArgs{{}, {Shapes: p.S.Strings.Intern("[[16, 64], [64, 64]]")},
		{Shapes: p.S.Strings.Intern("[[64, 16], [16, 64]]")}}
	const ms = model.Dur(1_000_000)
	for i := range 3 {
		at := p.T
		p.Steps(1, model.PhaseDetail, acts...)
		forward, backward := uint32(0), uint32(0)
		if i == 0 {
			forward, backward = 1, 2
		}
		add := func(dur model.Dur, name string, parent model.EventID, args uint32) model.EventID {
			ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1, Args: args})
			return p.Event(ev, at, dur, name, model.KindOp, parent, int32(len(ev.OpDetails)-1))
		}
		for range 10 {
			add(3*ms, "aten::mm", model.NoEvent, forward)
			at += model.Time(3 * ms)
		}
		unit := model.Dur(back) * ms / model.Dur(16+7*slow)
		for k := range 16 {
			dur := unit
			if k >= 16-slow && i < in {
				dur = 8 * unit
			}
			node := add(dur, "autograd::engine::evaluate_function: MmBackward0", model.NoEvent, 0)
			add(dur, "aten::mm", node, backward)
			at += model.Time(dur)
		}
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// Gradients that vanish on their way back are denormal, which no module is given: where the processor meets such numbers and some products
// take many times as long as others of their shapes, or as those of as much work in the forward pass, that is the time they cost.
func TestDenormalGradients(t *testing.T) {
	for _, c := range []struct {
		name       string
		met        float64
		back, slow int
		in         int     // of three traced steps
		share      float64 // of the step beyond what the products should take; 0: not named
	}{
		{"some products are slow", 40, 92, 1, 3, 28.0 / 122},    // 16 of them and seven more: 4 ms each
		{"all are slow", 40, 192, 16, 3, 16 * (12 - 4.5) / 222}, // beyond 1.5 times the 3 ms of the forward pass
		{"none is slow", 40, 64, 0, 3, 0},
		{"those of one step are slow", 40, 92, 1, 1, 0}, // whatever that one waited for
		{"the processor met none", 0, 92, 1, 3, 0},
	} {
		p := productsProgram(c.back, c.slow, c.in)
		p.P.Counters = map[string]float64{"denormal_looks": 40, "denormal_met": c.met}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Precision })
		if i < 0 {
			if c.share > 0 {
				t.Errorf("%s: not named", c.name)
			}
			continue
		}
		if f := &res.Findings[i]; c.share == 0 || f.Where.Line != 42 || math.Abs(f.Share-c.share) > 0.02 || f.Step.Low <= 0 {
			t.Errorf("%s: %+v at line %d, want %.3f of the step", c.name, f.Share, f.Where.Line, c.share)
		}
	}
}

// Denormal numbers are flushed from the start, behind the import of torch: threads that have computed before keep what was set.
func TestFlushingIsSetAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		text, code string
		line       int
	}{
		"imported": {"import os\nimport torch\n\nfrom torch import nn",
			"torch.set_flush_denormal(True)", 4},
		"a part of it":    {"from torch import nn\nimport os", "torch.set_flush_denormal(True)", 0},
		"over many lines": {"from torch import (\n    nn)", "torch.set_flush_denormal(True)", 0},
	} {
		p := productsProgram(92, 1, 3)
		p.P.Counters = map[string]float64{"denormal_looks": 40, "denormal_met": 40}
		lines := make([]string, 42) // the loop stands where its samples are
		copy(lines, strings.Split(c.text, "\n"))
		copy(lines[38:], []string{"for x in data:", "    out = model(x)", "", "    out.backward()"})
		p.S.Sources[module.File] = &model.Source{Path: module.File, Lines: lines}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Precision })
		if i < 0 {
			t.Fatalf("%s: not named", name)
		}
		if a := res.Findings[i].Fix.Action; a.Change() != c.code || a.Line != c.line {
			t.Errorf("%s: %q at line %d, want %q at %d", name, a.Change(), a.Line, c.code, c.line)
		}
	}
}
