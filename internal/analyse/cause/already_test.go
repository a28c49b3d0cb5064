package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"slices"
	"strings"
	"testing"
)

// A program that compiles is not told to compile, but what is said to be left out of its compiled code.
func TestCompilingIsNotAdvisedAgain(t *testing.T) {
	for _, compiled := range []bool{false, true} {
		p := testkit.NewProgram()
		if compiled {
			p.Do(testkit.Python(400, module, loop(30), torchFrame("_dynamo/convert_frame.py", "compile")).In(model.SpanCompile))
		}
		cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
		tracedCalls(p, called{name: "aten::mul", n: 3000, us: 20})
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Launch })
		if i < 0 {
			t.Fatalf("findings %+v, want launch", res.Findings)
		}
		f := res.Findings[i]
		said := f.Fix.Action.Change()
		for _, text := range f.Fix.Advice {
			said += " " + text.String()
		}
		if strings.Contains(said, "torch.compile") == compiled || strings.Contains(said, "graph_breaks") != compiled {
			t.Errorf("compiled %v: %s", compiled, said)
		}
	}
}

// A healthy program that is compiled is not told to try compiling.
func TestCompilingIsNotAdvisedToTheHealthy(t *testing.T) {
	for _, compiled := range []bool{false, true} {
		p := testkit.NewProgram()
		p.P.Counters = map[string]float64{"graph_breaks": 0}
		if compiled {
			p.P.Counters["graph_breaks"] = 2
		}
		p.Steps(30, model.PhaseBaseline, forward)
		res, _ := find(t, p)
		if f := res.Findings[len(res.Findings)-1]; !f.Healthy || strings.Contains(f.Fix.Advice[0].String(), "torch.compile") == compiled {
			t.Errorf("compiled %v: %+v", compiled, f.Fix)
		}
	}
}

// Code that several processes run already is not said to need several.
func TestSeveralProcessesAreNotAdvisedAgain(t *testing.T) {
	for makers, advice := range map[int]string{1: "input.fix-other-side", 4: "input.fix-other-sides"} {
		p := testkit.NewProgram()
		get := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/queues.py", Function: "Queue.get", First: 90, Line: 100}
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, module, loop(44), get))
		for i := range makers {
			q := p.Add(model.RoleOther, 300+i)
			for range 20 {
				q.Do(testkit.Python(120, module, user("simulate", 60, 64)))
			}
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "queue", 64, 0)
		if textOf(f.Fix.Advice, advice) == "" {
			t.Errorf("%d processes: %v, want %s", makers, f.Fix.Advice, advice)
		}
	}
}

// Code that comes from torch.compile's caches is not advised to be kept in them.
func TestCachesAreNotAdvisedAgain(t *testing.T) {
	makes := torchFrame("_inductor/compile_fx.py", "_InProcessFxCompile.codegen_and_compile")
	looks := torchFrame("_inductor/codecache.py", "FxGraphCache.load_with_key")
	trace := torchFrame("_dynamo/symbolic_convert.py", "InstructionTranslator.step")
	for name, c := range map[string]struct {
		acts   []testkit.Act
		advice string
	}{
		"made": {[]testkit.Act{testkit.Python(300, module, loop(40), trace), testkit.Python(700, module, loop(40), makes)},
			"warmup.fix-compile"},
		"from caches": {[]testkit.Act{testkit.Python(980, module, loop(40), trace), testkit.Python(20, module, loop(40), looks)},
			"warmup.fix-compile-cached"},
	} {
		p := testkit.NewProgram()
		for i := range c.acts {
			c.acts[i] = c.acts[i].In(model.SpanCompile)
		}
		p.Do(testkit.Native(50, module))
		p.Steps(1, model.PhaseWarmup, append(c.acts, forward)...)
		p.Steps(30, model.PhaseBaseline, forward)
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Warmup })
		if i < 0 || textOf(res.Findings[i].Fix.Advice, c.advice) == "" {
			t.Errorf("%s: %+v, want %s", name, res.Findings, c.advice)
		}
	}
}
