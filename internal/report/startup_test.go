package report

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A run of which three quarters pass before its steps is not called healthy for what its steps do.
func TestShortRunsAreSaidToStartUp(t *testing.T) {
	sentence := func(before int) string {
		p := testkit.NewProgram()
		main := testkit.Frame{File: "/home/u/train.py", Function: "main", First: 1, Line: 40}
		start := p.T
		p.Do(testkit.Python(before, testkit.Frame{File: "/usr/lib/python3.13/importlib/__init__.py", Function: "import_module",
			First: 1, Line: 88}))
		p.P.Imports = []model.Span{{Kind: model.SpanImport, Start: start, End: p.T}}
		p.Steps(10, model.PhaseBaseline, testkit.Native(100, main))
		r := Build(p.S, Options{})
		if !strings.HasPrefix(r.Account.Basis, "10 baseline steps, ") {
			t.Errorf("the account is of %q", r.Account.Basis)
		}
		return r.Verdict.Sentence
	}
	if got := sentence(3000); !strings.HasPrefix(got,
		"75 % of this run passes before its steps reach their speed, 100 % of that in imports.") {
		t.Errorf("a run of 3 s of imports and 1 s of steps: %q", got)
	}
	if got := sentence(200); strings.Contains(got, "before its steps") {
		t.Errorf("a run of 0.2 s of imports and 1 s of steps: %q", got)
	}
}

// Where tracing takes most of a short run, the sentence says so and what to do, and names the largest part of the program's own.
func TestTracingIsNotThePartToLookAt(t *testing.T) {
	p := testkit.NewProgram()
	main := testkit.Frame{File: "/home/u/train.py", Function: "main", First: 1, Line: 40}
	p.Do(testkit.Python(600, main).In(model.SpanProfiler),
		testkit.Python(380, testkit.Frame{File: "/usr/lib/python3.13/importlib/__init__.py", Function: "import_module", First: 1,
			Line: 88}).In(model.SpanImport),
		testkit.Native(20, main))
	got := Build(p.S, Options{}).Verdict.Sentence
	if !strings.Contains(got, "60 % of it is tracing itself") || !strings.Contains(got, "--no-trace") ||
		!strings.Contains(got, "import (38 %)") {
		t.Errorf("a run of 0.6 s of tracing, 0.38 s of imports and 20 ms of work: %q", got)
	}
}

// A program of a third of a second has samples, only too few: the sentence does not deny them.
func TestFewSamplesAreNotNone(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Python(30, testkit.Frame{File: "/home/u/copy.py", Function: "main", First: 1, Line: 4}))
	if got := Build(p.S, Options{}).Verdict.Sentence; !strings.Contains(got, "30 samples are too few") || !strings.Contains(got, "--rate") {
		t.Errorf("a run with 30 samples: %q", got)
	}
}

// A training that ended in its first step is not called healthy: nothing is known of its steps.
func TestNoStepWasSeen(t *testing.T) {
	p := testkit.NewProgram()
	line := testkit.Frame{File: "/home/u/train.py", Function: "step", First: 1, Line: 40}
	p.Do(testkit.Native(3000, line))
	if got := Build(p.S, Options{}).Verdict.Sentence; !strings.HasPrefix(got, "healthy") {
		t.Errorf("a program that computes: %q", got)
	}
	p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanOther, Start: testkit.Epoch, End: testkit.Epoch, Thread: p.P.PID, Loader: -1,
		Name: p.S.Strings.Intern("Optimizer.__init__")})
	got := Build(p.S, Options{}).Verdict.Sentence
	if !strings.Contains(got, "before one of its steps was seen") || !strings.Contains(got, "step() at train.py:40 (3.00 s)") ||
		strings.Contains(got, "cuDNN") {
		t.Errorf("a training in its first step: %q", got)
	}
	p.Do(testkit.Native(4000, line, testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/autograd/graph.py",
		Function: "_engine_run_backward", First: 1, Line: 9}))
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: []string{"torch.backends.cudnn.benchmark = True"}}
	p.S.Environment.GPUs = []model.GPU{{Name: "NVIDIA H200"}}
	if got := Build(p.S, Options{}).Verdict.Sentence; !strings.Contains(got, "tries its algorithms in a first step") ||
		!strings.Contains(got, "as train.py:1 asks for") {
		t.Errorf("a training in its trials: %q", got)
	}
}
