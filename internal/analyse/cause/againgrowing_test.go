package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// answering is a service that answers requests of 512 tokens with 32 more each, in steps of 40 ms; the first 96 calls of its model are
// looked at, and call n of a request is given rows(n). Few steps are traced.
func answering(operator string, rows func(n int) int64, change func(n int, q *model.Asked)) *testkit.Program {
	p := testkit.NewProgram()
	acts := testkit.Native(40, module, loop(40), torchFrame("nn/modules/module.py", "Module._call_impl"), user("forward", 60, 66),
		torchFrame("nn/modules/module.py", "Module._call_impl"), torchFrame("nn/modules/linear.py", "forward"))
	for i := range 128 {
		if i < 96 {
			q := model.Asked{Time: p.T + 1, Module: 1, Rows: 64 * 544, Fewest: rows(i % 32), Line: 40,
				File:   p.S.Strings.Intern(loop(40).File),
				Unread: true}
			if change != nil {
				change(i, &q)
			}
			p.P.Asked = append(p.P.Asked, q)
		}
		p.Steps(1, model.PhaseBaseline, acts)
	}
	tracedStep(p, testkit.Native(40), called{name: operator, n: 4, us: 10_000})
	infers(p)
	return p
}

// infers has all steps of a program ask a model only.
func infers(p *testkit.Program) {
	for i := range p.P.Steps {
		p.P.Steps[i].Kind = p.S.Strings.Intern("inference")
	}
}

// Texts that are long already are computed again for each token though steps hardly grow: what the model is given tells it. Not with
// gradients, as of a history that a training goes through, nor where weights move in between, rows grow by chance, only a mask grows
// beside the newest token, a text is short or begins anew after a few calls; and steps whose text grows by half would take longer.
func TestLongTextsAreComputedAgain(t *testing.T) {
	const attends = "aten::scaled_dot_product_attention"
	text := func(n int) int64 { return 64 * int64(512+n) }
	for _, c := range []struct {
		name     string
		operator string
		rows     func(n int) int64
		change   func(n int, q *model.Asked)
		found    bool
	}{
		{"long texts", attends, text, nil, true},
		{"one sequence", attends, func(n int) int64 { return int64(512 + n) }, nil, true},
		{"eight calls each", attends, func(n int) int64 { return text(n % 8) }, nil, true},
		{"seven calls each", attends, func(n int) int64 { return text(n % 7) }, nil, false},
		{"gradients", attends, text, func(_ int, q *model.Asked) { q.Gradients = true }, false},
		{"weights move", attends, text, func(n int, q *model.Asked) { q.Weights = int64(n) }, false},
		{"by chance", attends, func(n int) int64 { return text(n + n*n%3) }, nil, false},
		{"the newest token", attends, func(int) int64 { return 64 }, nil, false},
		{"not told, as of old", attends, func(int) int64 { return -1 }, nil, false},
		{"batches grow", attends, func(n int) int64 { return 512 * int64(32+n) }, nil, false},
		{"grows by half and more", attends, func(n int) int64 { return 64 * int64(512+n*10) }, nil, false},
		{"short texts", attends, func(n int) int64 { return 64 * int64(40+n/4) }, nil, false},
		{"nothing attends", "aten::mkldnn_convolution", text, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, answering(c.operator, c.rows, c.change))
			if !c.found {
				for _, f := range res.Findings {
					if f.Cause == finding.Again {
						t.Errorf("%s, %+v", f.Title, f.Step)
					}
				}
				return
			}
			f := want(t, res, finding.Again, "prefix", 40, 0)
			if got := f.Step.Mid / 1e6; got < 30 || got > 36 || f.Step.Low > 26e6 || f.Step.Low <= 0 ||
				textOf(f.Evidence, "again.rows-asked") == "" {
				t.Errorf("saves %+v: %+v", f.Step, f.Evidence)
			}
		})
	}
}

// Where steps show that they grow, and too few in turn are traced, what the model is given takes the place of traced rows.
func TestRowsThatAreAskedForStandForTracedOnes(t *testing.T) {
	p := writing(func(n int) int { return 4 * n }, func(n int) int { return 2 + n/2 })
	tr := p.S.Traces[0]
	tr.Features.Shapes = false
	infers(p)
	tr.Events.Name[0] = p.S.Strings.Intern("aten::_softmax")
	for i := range 96 {
		p.P.Asked = append(p.P.Asked, model.Asked{Time: p.P.Steps[i].Start + 1, Module: 1, Rows: 4 * int64(20+i),
			Fewest: 4 * int64(20+i), Line: 40,
			File: p.S.Strings.Intern(loop(40).File)})
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Again, "prefix", 40, 0)
	if f.Step.Mid < 38e6 || f.Step.Mid > 62e6 || textOf(f.Evidence, "again.longer") == "" {
		t.Errorf("saves %+v: %+v", f.Step, f.Evidence)
	}
}
