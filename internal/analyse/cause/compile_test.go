package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// A model that is compiled once more after the warm-up, for its first validation, is a first step that comes late; one that is
// compiled again and again is not.
func TestCompiledOnceMoreIsWarmup(t *testing.T) {
	for _, c := range []struct {
		name  string
		times int
		want  string
	}{{"once", 1, finding.Warmup}, {"again", 6, finding.Compile}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Do(testkit.Native(100, module))
			compiling := testkit.Python(400, module, loop(49)).In(model.SpanCompile)
			p.Steps(2, model.PhaseWarmup, forward, compiling)
			p.Steps(10, model.PhaseBaseline, forward)
			p.Steps(c.times, model.PhaseBaseline, forward, compiling)
			p.Steps(10, model.PhaseBaseline, forward)
			for i := range p.P.Spans {
				p.P.Spans[i].Name = p.S.Strings.Intern(string(rune('a' + i))) // each has a name of its own
			}
			res, _ := find(t, p)
			if len(res.Findings) == 0 || res.Findings[0].Cause != c.want {
				t.Fatalf("findings %+v, want %s first", res.Findings, c.want)
			}
			saved := res.Findings[0].Run.Mid / 1e6
			want := 1200.0
			if c.want == finding.Compile {
				want = 0.95 * 2400
			}
			if saved < 0.9*want || saved > 1.1*want {
				t.Errorf("saves %.0f ms of the run, want about %.0f", saved, want)
			}
		})
	}
}

// What is compiled once for each of a few shapes, and then no more, is start-up as well, and stands at the line that called it; so is
// what is compiled once without a slow first step.
func TestCompiledOnceForEachShape(t *testing.T) {
	compiling := testkit.Python(300, module, loop(49), torchFrame("_dynamo/convert_frame.py", "compile")).In(model.SpanCompile)
	for _, c := range []struct {
		name               string
		warm, shapes, then int
		cause              string
	}{{"shapes, then none", 1, 5, 60, finding.Warmup}, {"shapes until the end", 1, 5, 2, finding.Compile},
		{"shapes until PyTorch gives up", 1, 8, 60, finding.Compile}, {"once, late", 0, 1, 20, finding.Warmup}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Do(testkit.Native(50, module))
			if c.warm > 0 {
				p.Steps(c.warm, model.PhaseWarmup, forward, compiling)
			} else {
				p.Steps(1, model.PhaseWarmup, forward)
			}
			for range c.shapes {
				p.Steps(1, model.PhaseBaseline, forward, compiling)
				p.Steps(3, model.PhaseBaseline, forward)
			}
			p.Steps(c.then, model.PhaseBaseline, forward)
			res, _ := find(t, p)
			f := want(t, res, c.cause, "", 49, 0)
			if all := 300e6 * float64(c.warm+c.shapes); c.cause == finding.Warmup &&
				(!f.OfRun || f.Run.Mid < 0.9*all || f.Run.Mid > 1.1*all) {
				t.Errorf("saves %.0f ms of the run, want about %.0f", f.Run.Mid/1e6, all/1e6)
			}
			for _, g := range res.Findings[1:] {
				if g.Cause == finding.Compile || g.Cause == finding.Warmup && (c.cause == finding.Warmup || g.Run.Mid > 330e6) {
					t.Errorf("counts it again: %q saves %.0f ms", g.Title, g.Run.Mid/1e6)
				}
			}
		})
	}
}

// Where the sampler saw nothing of compiling, the line that runs what was compiled is the place.
func TestCompilingStandsWhereItRuns(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Native(50, module))
	from := p.T
	p.Steps(1, model.PhaseWarmup, testkit.Native(800, module, loop(52)))
	p.P.Samples = model.Samples{Stacks: p.P.Samples.Stacks}
	p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanCompile, Start: from, End: p.T - 60_000_000, Thread: p.P.PID})
	p.Steps(30, model.PhaseBaseline, testkit.Native(30, module, loop(49), torchFrame("_dynamo/eval_frame.py", "compile_wrapper")),
		testkit.Native(40, module, loop(50), torchFrame("autograd/graph.py", "_engine_run_backward"),
			torchFrame("_dynamo/eval_frame.py", "_fn")))
	res, _ := find(t, p)
	want(t, res, finding.Warmup, "", 49, 0)
}

// What is compiled after the last step, for a validation at the end, is start-up too.
func TestCompiledAfterTheSteps(t *testing.T) {
	p := testkit.NewProgram()
	compiling := testkit.Python(400, module, loop(49), torchFrame("_dynamo/convert_frame.py", "compile")).In(model.SpanCompile)
	p.Do(testkit.Native(50, module))
	p.Steps(1, model.PhaseWarmup, forward, compiling)
	p.Steps(20, model.PhaseBaseline, forward)
	p.Do(compiling, forward)
	res, _ := find(t, p)
	if f := want(t, res, finding.Warmup, "", 49, 0); f.Run.Mid < 0.9*800e6 || f.Run.Mid > 1.1*800e6 {
		t.Errorf("saves %.0f ms of the run, want about 800", f.Run.Mid/1e6)
	}
}

// torch.compile imports the compiler; the part that an optimizer imports as well is not saved where there is one.
func TestImportsOfTheCompiler(t *testing.T) {
	load := testkit.Frame{File: "<frozen importlib._bootstrap>", Function: "_find_and_load", First: 1, Line: 9}
	for _, c := range []struct {
		optimizer bool
		want      float64 // ms
	}{{true, 400 + 200}, {false, 400 + 200 + 300}} {
		p := testkit.NewProgram()
		p.Do(testkit.Native(50, module), testkit.Python(200, module, torchFrame("__init__.py", "compile"), load,
			torchFrame("_inductor/__init__.py", "<module>")),
			testkit.Python(300, module, torchFrame("__init__.py", "compile"), load, torchFrame("_dynamo/__init__.py", "<module>"), load,
				torchFrame("_dynamo/guards.py", "<module>")))
		compiling := testkit.Python(400, module, loop(49), torchFrame("_dynamo/convert_frame.py", "compile")).In(model.SpanCompile)
		p.Steps(1, model.PhaseWarmup, forward, compiling)
		acts := []testkit.Act{forward}
		if c.optimizer {
			acts = append(acts, testkit.Native(20, module, loop(44), torchFrame("optim/optimizer.py", "wrapper"),
				torchFrame("optim/adam.py", "step")))
		}
		p.Steps(20, model.PhaseBaseline, acts...)
		res, _ := find(t, p)
		f := want(t, res, finding.Warmup, "", 49, 0)
		if f.Run.Mid < 1e6*(c.want-60) || f.Run.Mid > 1e6*(c.want+60) || f.Run.High < f.Run.Mid {
			t.Errorf("optimizer %v: saves %.0f ms of the run (to %.0f), want about %.0f", c.optimizer, f.Run.Mid/1e6,
				f.Run.High/1e6, c.want)
		}
	}
}
