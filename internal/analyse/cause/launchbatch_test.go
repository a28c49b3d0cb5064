package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// triedSingly is a training in batches of 64, and a validation whose steps take so many ms and items each.
func triedSingly(ms int, items int32) *testkit.Program {
	p := testkit.NewProgram()
	file := p.S.Strings.Intern("/home/u/train.py")
	p.P.Loaders = []model.Loader{{ID: 0, BatchSize: 64, File: file, Line: 80}, {ID: 1, BatchSize: int(items), File: file, Line: 81}}
	for range 5 {
		first := len(p.P.Steps)
		p.Steps(20, model.PhaseBaseline, testkit.Native(64, module, loop(40), torchFrame("nn/modules/linear.py", "forward")))
		for i := first; i < len(p.P.Steps); i++ {
			p.P.Steps[i].Items = 64
		}
		first = len(p.P.Steps)
		p.Steps(30, model.PhaseBaseline, testkit.Native(ms-1, module, loop(50), user("evaluate", 60, 63),
			torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(1, module, loop(50), user("evaluate", 60, 63), torchFrame("nn/modules/module.py", "_call_impl")))
		for i := first; i < len(p.P.Steps); i++ {
			p.P.Steps[i].Kind, p.P.Steps[i].Items = p.S.Strings.Intern("validation"), items
		}
	}
	return p
}

// A validation that goes through its data one by one, where the training of the same program takes a fifth of that time for an item, is
// told to hand over more at once; one that takes no longer for an item, or has batches as large, is not.
func TestOneAtATimeIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		ms    int
		items int32
		want  bool
	}{"one by one": {10, 1, true}, "one by one, as fast": {2, 2, false}, "batches as large": {40, 32, false}} {
		t.Run(name, func(t *testing.T) {
			res, _ := find(t, triedSingly(c.ms, c.items))
			found := false
			for i := range res.Findings {
				f := &res.Findings[i]
				if f.Cause != finding.Launch || f.Sub != "batch" {
					continue
				}
				found = true
				// 150 steps of 10 ms, of which 1 ms an item is what a training step takes: 9.0 to 9.7 ms of each are saved.
				if f.Where.Line != 63 || f.Run.Low < 1.30e9 || f.Run.High > 1.50e9 || f.Run.Mid < 1.38e9 || f.Run.Mid > 1.47e9 {
					t.Errorf("%q at line %d saves %.2f–%.2f s (%.2f)", f.Title, f.Where.Line, f.Run.Low/1e9, f.Run.High/1e9, f.Run.Mid/1e9)
				}
				if f.Fix.Action.Change() != "DataLoader(..., batch_size=64)" || f.Fix.Action.Line != 81 {
					t.Errorf("change %q at line %d, want the loader of line 81", f.Fix.Action.Change(), f.Fix.Action.Line)
				}
			}
			if found != c.want {
				t.Errorf("found %v, want %v: %+v", found, c.want, res.Findings)
			}
		})
	}
}
