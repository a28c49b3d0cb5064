package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Suppressing boxes is named where a tenth of a step's operators or more is that, by the line that calls it, also in steps of another kind
// than the accounted one; a definition of that name calls nothing.
func TestSuppressionOfBoxes(t *testing.T) {
	for _, c := range []struct {
		source     string
		ms         int // of 100
		validation bool
		named      bool
	}{
		{"keep = batched_nms(boxes, scores, labels, 0.5)", 60, false, true},
		{"keep = torchvision.ops.nms(boxes, scores, 0.5)", 60, true, true},
		{"keep = nms(boxes, scores, 0.5)", 8, false, false},
		{"keep = boxes[scores > 0.5]", 60, false, false},
		{"keep = norms(boxes)", 60, false, false},
	} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: make([]string, 80)}
		p.S.Sources["/home/u/lib.py"].Lines[71] = "    " + c.source
		suppress := testkit.Native(c.ms, module, loop(50), user("keep", 70, 72), torchFrame("_ops.py", "__call__"))
		rest := testkit.Native(100-c.ms, module, loop(50), torchFrame("nn/modules/linear.py", "forward"))
		if c.validation {
			p.Steps(60, model.PhaseBaseline, testkit.Native(100, module, loop(40), torchFrame("nn/modules/linear.py", "forward")))
		}
		first := len(p.P.Steps)
		p.Steps(40, model.PhaseBaseline, suppress, rest)
		for i := first; c.validation && i < len(p.P.Steps); i++ {
			p.P.Steps[i].Kind = p.S.Strings.Intern("validation")
		}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "suppression" })
		if (i >= 0) != c.named {
			t.Errorf("%s, %d ms: %+v", c.source, c.ms, res.Findings)
			continue
		}
		if want := 40 * 60e6 * 0.85; i >= 0 && (res.Findings[i].Where.Line != 72 || res.Findings[i].OfRun != c.validation ||
			res.Findings[i].Run.Mid < 0.95*want || res.Findings[i].Run.Mid > 1.05*want) {
			t.Errorf("%s: %+v", c.source, res.Findings[i])
		}
	}
}
