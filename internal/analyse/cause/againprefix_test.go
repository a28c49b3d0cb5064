package cause_test

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"fmt"
	"testing"
)

// writing is a program that writes two texts of 20 to 219 tokens: the first steps are traced, and multiply so many rows each; a step of n
// tokens takes took(n) ms.
func writing(rows, took func(n int) int) *testkit.Program {
	p := testkit.NewProgram()
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Shapes: true}}
	ev := &t.Events
	step := func(n int, phase model.PhaseKind) {
		start, ms := p.T, took(n)
		p.Steps(1, phase, testkit.Native(ms, module, loop(40), torchFrame("nn/modules/module.py", "_call_impl"), user("forward", 60, 66),
			torchFrame("nn/modules/module.py", "_call_impl"), torchFrame("nn/modules/linear.py", "forward")))
		if phase == model.PhaseDetail {
			p.Event(ev, start, model.Dur(ms)*1e6, "aten::addmm", model.KindOp, model.NoEvent, int32(len(ev.OpDetails)))
			ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1, Args: uint32(len(ev.OpArgs))})
			ev.OpArgs = append(ev.OpArgs, model.OpArgs{Shapes: p.S.Strings.Intern(fmt.Sprintf("[[768], [%d, 192], [192, 768]]", rows(n)))})
			t.To = p.T
		}
	}
	for text := range 2 {
		for n := 20; n < 220; n++ {
			phase := model.PhaseBaseline
			if text == 0 && n < 26 {
				phase = model.PhaseDetail
			}
			step(n, phase)
		}
	}
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// A text that is computed again for each token is named at the line that asks the model, and priced by how steps grow. What keeps its keys
// and values multiplies as many rows in each step, and one whose steps do not grow would not gain.
func TestPrefixIsComputedAgain(t *testing.T) {
	all := func(n int) int { return 4 * n }
	for _, c := range []struct {
		name       string
		rows, took func(n int) int
		low, high  float64 // ms a step that the best guess lies between, 0 where nothing is to be found
		most       float64 // ms a step that may be saved at least: a step of one token takes down to half of what longer ones say
	}{
		{"all tokens", all, func(n int) int { return 2 + n/2 }, 38, 62, 54},
		{"one sequence", func(n int) int { return n }, func(n int) int { return 2 + n/2 }, 38, 62, 54},
		{"a step of one token takes half of it", all, func(n int) int { return 60 + n/2 }, 48, 62, 85},
		{"keys and values are kept", func(int) int { return 4 }, func(n int) int { return 2 + n/2 }, 0, 0, 0},
		{"rows differ by chance", func(n int) int { return 4*n + n%3 }, func(n int) int { return 2 + n/2 }, 0, 0, 0},
		{"a sequence that is cut to 23", func(n int) int { return 4 * min(n, 23) }, func(n int) int { return 2 + n/2 }, 20, 37, 37},
		{"steps do not grow", all, func(int) int { return 20 }, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, writing(c.rows, c.took))
			if c.high == 0 {
				for _, f := range res.Findings {
					if f.Cause == finding.Again {
						t.Errorf("%s, %+v", f.Title, f.Step)
					}
				}
				return
			}
			f := want(t, res, finding.Again, "prefix", 40, 0)
			if f.Step.Mid < c.low*1e6 || f.Step.Mid > c.high*1e6 || f.Step.Low <= 0 || f.Step.Low > f.Step.Mid {
				t.Errorf("saves %+v, want %g to %g ms", f.Step, c.low, c.high)
			}
			if f.Step.High < c.most*1e6 {
				t.Errorf("saves %+v, want %g ms at most", f.Step, c.most)
			}
		})
	}
}

// Where the trace has no shapes, nothing is said.
func TestPrefixNeedsShapes(t *testing.T) {
	p := writing(func(n int) int { return 4 * n }, func(n int) int { return 2 + n/2 })
	p.S.Traces[0].Features.Shapes = false
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Again {
			t.Errorf("%s", f.Title)
		}
	}
}

// On a device most of a step waits for what it computes: that ends as well. What is left is calling the operators, as the traced steps of
// the shortest sequence tell without their waits.
func TestPrefixOnADevice(t *testing.T) {
	const ms, waits = 1_000_000, 2
	p := writing(func(n int) int { return 4 * n }, func(n int) int { return 2 + n/2 })
	tr := p.S.Traces[0]
	old, ev := tr.Events, &tr.Events
	*ev = model.Events{OpDetails: old.OpDetails, OpArgs: old.OpArgs}
	for i := range old.Len() {
		end := old.End(model.EventID(i))
		op := p.Event(ev, old.Start[i], old.Dur[i], "aten::addmm", model.KindOp, model.NoEvent, old.Detail[i])
		p.Event(ev, old.Start[i]+1, 10_000, "cudaLaunchKernel", model.KindRuntime, op, -1)
		p.Event(ev, end-waits*ms, waits*ms, "cudaStreamSynchronize", model.KindRuntime, op, -1)
	}
	launches := model.EventID(ev.Len())
	for i := range old.Len() {
		k := p.Event(ev, old.Start[i]+20_000, old.Dur[i]-20_000, "sgemm", model.KindKernel, model.NoEvent, -1)
		ev.Link[k], ev.Lane[k] = model.EventID(3*i+1), 1
	}
	tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: launches},
		{Kind: model.LaneStream, FirstEvent: launches, EndEvent: model.EventID(ev.Len())}}
	res, b := find(t, p)
	if b.Part(account.PartGPUCompute) < 0.1*b.Total {
		t.Fatalf("%+v", b.Parts)
	}
	f := want(t, res, finding.Again, "prefix", 40, 0)
	if got := f.Step.Mid / ms; got < 51 || got > 53 { // of 62 ms on average 10 are left: 12 of the shortest step without its wait
		t.Errorf("saves %+v", f.Step)
	}
	if textOf(f.Evidence, "again.one-token-calls") == "" {
		t.Errorf("%+v", f.Evidence)
	}
}
