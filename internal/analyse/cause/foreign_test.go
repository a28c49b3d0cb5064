package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Native code that a line of the user's calls is PyTorch's where traced steps have operators then, and else another library's, as NumPy's,
// which releases the interpreter's lock and has no frame of Python's.
func TestNativeCodeOfAnotherLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		from, to int // ms of a step of 100 in which there are operators
		python   bool
	}{
		"operators elsewhere": {70, 100, true},
		"operators there":     {0, 100, false},
		"half of it":          {30, 100, false},
	} {
		p := testkit.NewProgram()
		acts := []testkit.Act{
			testkit.Native(70, module, loop(40), user("choose", 10, 12)),
			testkit.Native(30, module, loop(41), torchFrame("nn/modules/linear.py", "forward")),
		}
		p.Steps(20, model.PhaseBaseline, acts...)
		tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
		for range 4 {
			at := p.T
			p.Steps(1, model.PhaseDetail, acts...)
			for ms := c.from; ms < c.to; ms += 10 {
				p.Event(&tr.Events, at+model.Time(ms)*1e6, 99e5, "aten::mm", model.KindOp, model.NoEvent, -1)
			}
		}
		tr.To = p.T
		tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: model.EventID(tr.Events.Len())}}
		p.S.Traces = append(p.S.Traces, tr)
		res, b := find(t, p)
		if python := b.Part(account.PartPython) > b.Part(account.PartOps); python != c.python {
			t.Errorf("%s: %+v", name, b.Parts)
		}
		if c.python {
			want(t, res, finding.Python, "", 12, 70)
		}
	}
}

// Tensors that lose their names on a line give back what they held, in no operator: where memory is taken anew at each step, that is no
// Python code.
func TestMemoryThatALineFrees(t *testing.T) {
	for _, faults := range []float64{100, 30000} {
		p := paging(faults, 200)
		acts := []testkit.Act{testkit.Native(10, module, loop(40), user("choose", 10, 12)),
			testkit.Native(90, module, loop(41), torchFrame("nn/modules/conv.py", "forward"))}
		p.P.Steps, p.P.Samples, p.T = nil, model.Samples{}, testkit.Epoch
		p.Steps(300, model.PhaseBaseline, acts...)
		tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
		for range 9 {
			at := p.T
			p.Steps(1, model.PhaseDetail, acts...)
			p.Event(&tr.Events, at+10e6, 90e6, "aten::convolution", model.KindOp, model.NoEvent, -1)
		}
		tr.To = p.T
		tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: model.EventID(tr.Events.Len())}}
		p.S.Traces = append(p.S.Traces, tr)
		res, _ := find(t, p)
		python := false
		for i := range res.Findings {
			python = python || res.Findings[i].Cause == finding.Python
		}
		if python != (faults < 1000) {
			t.Errorf("%v faults a step: %+v", faults, res.Findings)
		}
	}
}
