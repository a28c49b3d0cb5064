package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// installs are broken, too old or false installations of torch: what stands at torch/… on PYTHONPATH, what a program does
// with it, and what the report has to say.
var installs = map[string]struct {
	files   map[string]string
	program string
	says    string
}{
	"its import raises": {
		files:   map[string]string{"torch/__init__.py": "raise OSError('libcudart.so.11.0: cannot open shared object file')\n"},
		program: "import torch\n",
		says:    "importing torch failed (OSError: libcudart.so.11.0: cannot open shared object file)",
	},
	"its import raises and the program copes": {
		files:   map[string]string{"torch/__init__.py": "from torch._C import missing\n", "torch/_C.py": ""},
		program: "import traceback\ntry:\n    import torch\nexcept ImportError:\n    traceback.print_exc()\n",
		says:    "importing torch failed (ImportError: cannot import name 'missing'",
	},
	"a folder that is called torch": {
		files:   map[string]string{"torch/readme.txt": "how to make a torch\n"},
		program: "import torch\nprint(len(torch.__path__))\n",
	},
	"the program's own torch.py": {
		files:   map[string]string{"torch.py": "LIT = True\n"},
		program: "import torch\nprint(torch.LIT)\n",
		says:    "the module torch is not a whole PyTorch (no Tensor)",
	},
	"half an installation": {
		files:   map[string]string{"torch/__init__.py": "__version__ = '2.9.0'\nclass Tensor: pass\n"},
		program: "import torch\nprint(torch.__version__)\n",
		says:    "the module torch 2.9.0 is not a whole PyTorch (no nn.Module)",
	},
	"parts of it are broken": {
		files:   oldTorch("2.9.0", newerProfiler),
		program: oldTraining,
		says:    "install-saves failed and stays off",
	},
	"too old": {
		files:   oldTorch("0.4.1", "class profile:\n    def __enter__(self): return self\n    def __exit__(self, *error): pass\n"),
		program: oldTraining,
		says:    "PyTorch 0.4.1 has no profiler that can be used (no torch.autograd.profiler.record_function",
	},
	"without a profiler": {
		files:   oldTorch("1.0.0", ""),
		program: oldTraining,
		says:    "PyTorch 1.0.0 has no profiler that can be used (no torch.autograd.profiler.profile",
	},
	"the profiler's start raises": {
		files:   oldTorch("2.9.0", newerProfiler),
		program: oldTraining,
		says:    "torch's profiler did not start (RuntimeError: no profiler today)",
	},
}

// oldTraining steps an optimizer and catches nothing.
const oldTraining = `import torch
model = torch.nn.Module()
optimizer = torch.optim.SGD()
for _ in range(30):
    optimizer.step()
print("trained with", torch.__version__)
`

// newerProfiler has every name that a session needs, and refuses to start one.
const newerProfiler = `from torch import autograd
class profile:
    def __init__(self, use_kineto=False, **options): pass
    def config(self): return None
    def __enter__(self): return self
    def __exit__(self, *error): pass
class record_function(profile):
    pass
def refuse(*arguments): raise RuntimeError("no profiler today")
autograd.kineto_available = lambda: True
autograd._profiler_enabled = lambda: False
autograd._prepare_profiler = refuse
autograd._enable_profiler = autograd._disable_profiler = refuse
`

// oldTorch are the parts that a training loop needs of a torch of that version, with the given torch.autograd.profiler.
func oldTorch(version, profiler string) map[string]string {
	return map[string]string{
		"torch/__init__.py": "__version__ = '" + version + "'\nclass Tensor: pass\ndef is_grad_enabled(): return True\n" +
			"from torch import nn, optim, autograd, version, cuda, _C\nfrom torch.autograd import profiler as _p\nfrom torch import " +
			"profiler, serialization\n",
		"torch/version.py":               "cuda = hip = None\n",
		"torch/_C.py":                    "",
		"torch/cuda.py":                  "def is_initialized(): return False\ndef is_available(): return False\n",
		"torch/profiler.py":              "class ProfilerActivity:\n    CPU = 0\nclass profile:\n    def step(self): pass\n",
		"torch/serialization.py":         "",
		"torch/nn.py":                    "class Module:\n    def __call__(self, *a): return None\n",
		"torch/autograd/__init__.py":     "",
		"torch/autograd/profiler.py":     profiler,
		"torch/optim/__init__.py":        "from torch.optim.optimizer import Optimizer\nclass SGD(Optimizer):\n    def step(self): pass\n",
		"torch/optim/optimizer.py":       "class Optimizer:\n    def __init__(self): pass\n    def step(self): pass\n",
		"torch/utils/__init__.py":        "",
		"torch/utils/data/__init__.py":   "def get_worker_info(): return None\n",
		"torch/utils/data/dataloader.py": "",
	}
}

// TestRunWithBrokenTorch runs programs whose torch is missing parts, too old, or none at all: output, tracebacks and status
// stay the program's, and the report says which part is missing.
func TestRunWithBrokenTorch(t *testing.T) {
	for name, c := range installs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for path, text := range c.files {
				b.file("site/"+path, text)
			}
			b.file("s.py", c.program)
			b.env = append(b.env, "PYTHONPATH="+b.dir+"/site", "PYTHONDONTWRITEBYTECODE=1")
			plain := b.finish(b.exec(python, "s.py"))
			got := b.run("", "run", "-o", "report.txt", "--json", "report.json", "s.py")
			if got != plain {
				t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, plain)
			}
			notes := b.notes("report.json")
			if c.says != "" && !slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, c.says) }) {
				t.Errorf("the report says %q, not %q", notes, c.says)
			}
			if text := b.read("report.txt"); strings.Contains(text, "Traceback (most recent") || len(text) == 0 {
				t.Errorf("report:\n%s", text)
			}
		})
	}
}

// TestRunWithoutTorch says nothing of torch where the program did not get it: its own message is enough.
func TestRunWithoutTorch(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import no_torch_here\n")
	plain := b.finish(b.exec(python, "s.py"))
	got := b.run("", "run", "-o", "report.txt", "s.py")
	if got != plain || got.code != 1 {
		t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, plain)
	}
	expect(t, "the report", b.read("report.txt"), "exit code 1")
}

// notes are the run's notes in a report document.
func (b *bench) notes(name string) []string {
	b.t.Helper()
	var doc struct {
		Run struct {
			Notes []string `json:"notes"`
		} `json:"run"`
	}
	if err := json.Unmarshal([]byte(b.read(name)), &doc); err != nil {
		b.t.Fatal(err)
	}
	return doc.Run.Notes
}
