package cause_test

import (
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A sampler that asks the model after the training, with a graph that nothing goes backward through and that fills the memory, is told so;
// not one under no_grad, however that is written, nor where memory stays, a backward pass follows, or a library stands in between.
func TestGraphAfterTheLastStep(t *testing.T) {
	const plain = "def sample(n):\n    for t in range(n):\n        x = x - net(x, t)\n    return x\n"
	library := []testkit.Frame{{File: "/usr/lib/python3/dist-packages/fast/run.py", Function: "call"}}
	for name, c := range map[string]struct {
		source string
		grown  int64 // MiB
		inner  []testkit.Frame
		after  testkit.Frame
		want   bool
	}{
		"kept":             {plain, 4096, nil, testkit.Frame{}, true},
		"memory stays":     {plain, 100, nil, testkit.Frame{}, false},
		"a decorator":      {"@torch.no_grad()\n" + plain, 4096, nil, testkit.Frame{}, false},
		"a statement":      {"def sample(n):\n    with torch.inference_mode():\n        x = net(x)\n", 4096, nil, testkit.Frame{}, false},
		"something":        {"def sample(n):\n    with context:\n        x = net(x)\n", 4096, nil, testkit.Frame{}, false},
		"for all":          {plain + "torch.set_grad_enabled(False)\n", 4096, nil, testkit.Frame{}, false},
		"in torch":         {plain, 4096, []testkit.Frame{torchFrame("utils/_contextlib.py", "decorate_context")}, testkit.Frame{}, false},
		"a library":        {plain, 4096, library, testkit.Frame{}, false},
		"backward follows": {plain, 4096, nil, torchFrame("autograd/__init__.py", "backward"), false},
	} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, forward, testkit.Native(30, module, loop(42), torchFrame("autograd/__init__.py", "backward")))
		lines := strings.Split(c.source, "\n")
		asks := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "net(x") }) + 1
		last := testkit.Frame{File: "/home/u/sampler.py", Function: "sample", First: 1, Line: asks}
		p.S.Sources["/home/u/sampler.py"] = &model.Source{Path: "/home/u/sampler.py", Lines: lines}
		main := make([]string, 99)
		main[89] = "print(sample(300))"
		p.S.Sources[module.File] = &model.Source{Path: module.File, Lines: main}
		use := func(mib int64, system, faults int64) {
			p.P.Usage = append(p.P.Usage, model.Usage{At: p.T, Anonymous: mib << 20, System: model.Dur(system * 1e6), MinorFaults: faults})
		}
		use(400, 100, 1000)
		p.T += 1_000_000
		use(400, 100, 1000)
		stack := append(append([]testkit.Frame{module, last}, c.inner...), torchFrame("nn/modules/module.py", "_call_impl"),
			torchFrame("nn/modules/linear.py", "forward"))
		p.Do(testkit.Native(6000, stack...))
		if c.after.File != "" {
			p.Do(testkit.Native(50, module, last, c.after))
		}
		use(400+c.grown, 2600, 1_000_000)
		p.P.End = p.T
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.UnusedGradients })
		if i < 0 {
			if c.want {
				t.Errorf("%s: not named: %+v", name, res.Findings)
			}
			continue
		}
		if f := &res.Findings[i]; !c.want || !f.OfRun || f.Where.Line != asks || f.Run.Low != 0 || f.Run.Mid < 2e9 || f.Run.Mid > 2.5e9 {
			t.Errorf("%s: %q at line %d saves %+v", name, f.Title, f.Where.Line, f.Run)
		}
	}
}
