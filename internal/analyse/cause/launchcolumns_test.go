package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestColumnsInTablesOfTheirOwn: a model that looks up each of twenty columns in a table of its own, of which each has a gradient, is told
// to join them. One table for all of them has one gradient, long lookups are no mere calls, and three tables are no loop.
func TestColumnsInTablesOfTheirOwn(t *testing.T) {
	const (
		lookup  = "aten::embedding"
		through = naming.EngineNode + ": EmbeddingBackward0"
		into    = naming.EngineNode + ": torch::autograd::AccumulateGrad"
	)
	for name, c := range map[string]struct {
		tables, shared int
		us             int64
		want           bool
	}{
		"a table a column": {20, 0, 10, true},
		"one for all":      {0, 20, 10, false},
		"long texts":       {20, 0, 900, false},
		"three":            {3, 0, 10, false},
	} {
		p := testkit.NewProgram()
		sparse := torchFrame("nn/modules/sparse.py", "Embedding.forward")
		acts := []testkit.Act{
			testkit.Native(20, module, loop(40), user("forward", 60, 64), torchFrame("nn/modules/module.py", "Module._call_impl"), sparse),
			testkit.Python(20, module, loop(40), user("forward", 60, 64)),
			testkit.Native(40, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
			testkit.Native(20, module, loop(40), user("forward", 60, 66), torchFrame("nn/modules/linear.py", "forward")),
		}
		p.Steps(60, model.PhaseBaseline, acts...)
		list := []called{{name: lookup, n: c.tables + c.shared, us: c.us}, {name: "aten::addmm", n: 1, us: 15_000}}
		for range c.tables {
			list = append(list, called{name: through, n: 1, us: c.us}, called{name: into, n: 1, us: c.us})
		}
		list = append(list, called{name: through, n: max(c.shared, 1), us: c.us}, called{name: into, n: 1, us: c.us})
		tracedActs(p, acts, list...)
		res, _ := find(t, p)
		var got *finding.Finding
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Sub == "columns" {
				got = f
			}
		}
		if (got != nil) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
		if got != nil && (got.Where.Line != 64 || got.Step.Mid < 25e6 || got.Step.Mid > 32e6) {
			t.Errorf("%s: line %d, saves %.1f ms of 40 and a little of the backward pass", name, got.Where.Line, got.Step.Mid/1e6)
		}
	}
}
