package cause_test

import (
	"slices"
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
