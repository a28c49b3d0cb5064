package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// installed is a frame of an installed package or of the standard library.
func installed(path, fn string) testkit.Frame {
	return testkit.Frame{File: "/usr/lib/python3.13/" + path, Function: fn, First: 1, Line: 5}
}

// The user's line is the place of another library's work, native code that has let go of the lock included, and the library is named.
func TestCodeOfALibraryIsNamed(t *testing.T) {
	for _, c := range []struct{ path, name string }{{"site-packages/numpy/linalg/_linalg.py", "numpy"},
		{"site-packages/tokenizers/implementations/base.py", "tokenizers"}, {"json/encoder.py", "json"}, {"", ""}} {
		t.Run(c.path, func(t *testing.T) {
			p := testkit.NewProgram()
			stack := []testkit.Frame{module, loop(44), user("whiten", 10, 12)}
			if c.path != "" {
				stack = append(stack, installed(c.path, "work"))
			}
			acts := []testkit.Act{forward, testkit.Python(20, stack...)}
			if strings.Contains(c.path, "-packages") {
				acts = append(acts, testkit.Native(20, stack...)) // without the interpreter's lock
			}
			p.Steps(20, model.PhaseBaseline, append(acts, testkit.Python(4, module, loop(44), user("whiten", 10, 12)))...)
			res, b := find(t, p)
			f := want(t, res, finding.Python, "", 12, 0)
			named := c.name != "" && strings.Contains(f.Title.String(), "code of "+c.name) &&
				strings.Contains(wording.Sentences(f.Fix.Advice), c.name)
			if named != (c.name != "") {
				t.Errorf("%q, fix %q, want %q", f.Title, wording.Sentences(f.Fix.Advice), c.name)
			}
			if got := b.Part(account.PartOps) / 20e6; got != 60 {
				t.Errorf("operators take %.0f ms of a step, want the 60 ms of the model", got)
			}
		})
	}
}

// What closes a file, at the line that opened it, writes: it is no operator of a model's.
func TestLinesThatOpenFilesAreIO(t *testing.T) {
	for source, io := range map[string]bool{"    with open(path, \"w\") as file:": true, "    file = open(path)": true,
		"    with torch.no_grad():": false, "    x = conv(images, opened(path))": false} {
		p := testkit.NewProgram()
		lines := make([]string, 60)
		lines[43] = source
		p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
		p.Steps(20, model.PhaseBaseline, forward, testkit.Native(20, module, loop(44)))
		if _, b := find(t, p); (b.Part(account.PartIO) > 0) != io {
			t.Errorf("%q: %.0f ms of I/O in all, want some: %v", source, b.Part(account.PartIO)/1e6, io)
		}
	}
}

// What the loss is computed from is not done in fewer steps: the advice says so, and which function of the library takes the time.
func TestALibraryThatTheLossNeeds(t *testing.T) {
	for line, advice := range map[int]string{
		40: "python.fix-library-loss", // loss = package.nll(model(x), y)
		44: "python.fix-library",
	} {
		p := lossProgram(map[int]string{30: "def train(model, rows):", 40: "        loss = package.nll(model(x), y)",
			41: "        loss.backward()", 44: "        table = package.summary(rows)"}, nil, loop(40))
		p.Steps(20, model.PhaseBaseline, testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
			testkit.Python(60, module, loop(line), installed("site-packages/package/core.py", "outer"),
				installed("site-packages/package/checks.py", "check")))
		res, _ := find(t, p)
		f := want(t, res, finding.Python, "", line, 0)
		inside := textOf(f.Evidence, "python.inside")
		if textOf(f.Fix.Advice, advice) == "" || (line == 40) != strings.Contains(inside, "check() of checks.py") {
			t.Errorf("line %d: %s %q", line, wording.Sentences(f.Fix.Advice), inside)
		}
	}
}
