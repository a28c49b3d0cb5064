package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A model that is asked for one row at a time reads all of its weights for it: nothing is sure to be saved, and much where more can be
// asked at once.
func TestOneRowAtATime(t *testing.T) {
	for _, c := range []struct {
		name    string
		rows    int64
		product string
		calls   int // of 10 ms
		learns  bool
		found   bool
	}{
		{"one row", 1, "aten::addmm", 5, false, true},
		{"a batch", 32, "aten::addmm", 5, false, false},
		{"what cannot be told", -1, "aten::addmm", 5, false, false},
		{"pictures", 1, "aten::mkldnn_convolution", 5, false, false},
		{"small layers", 1, "aten::addmm", 900, false, false},
		{"a training", 1, "aten::addmm", 5, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			acts := []testkit.Act{testkit.Native(10, module, loop(40), torchFrame("nn/modules/module.py", "Module._call_impl"))}
			if c.learns {
				acts = append(acts, testkit.Native(10, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")))
			}
			p.Steps(120, model.PhaseBaseline, acts...)
			tracedStep(p, testkit.Native(10*len(acts)), called{name: c.product, n: c.calls, us: 10_000 / int64(c.calls)})
			for range 20 {
				p.P.Asked = append(p.P.Asked, model.Asked{Module: 1, Rows: c.rows, Line: 40, File: p.S.Strings.Intern(loop(40).File)})
			}
			res, _ := find(t, p)
			f := res.Findings[0]
			if found := f.Cause == finding.Launch && f.Sub == "batch"; found != c.found {
				t.Fatalf("%s/%s first", f.Cause, f.Sub)
			}
			if c.found && (f.Where.Line != 40 || f.Step.Low != 0 || math.Abs(f.Step.Mid/1e6-7.2) > 0.5) {
				t.Errorf("at line %d saves %+v", f.Where.Line, f.Step)
			}
		})
	}
}
