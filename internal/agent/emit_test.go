package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// emitScript drives --emit nvtx with a torch that has a CUDA device only on paper and writes down what is asked of it: this
// machine may have none.
const emitScript = `
import types
from _bneck_agent import core, life, marks, options, settings
asked = []
class Range:
    def __init__(self, record_shapes=False):
        asked.append("shapes" if record_shapes else "plain")
    def __enter__(self):
        asked.append("enter")
    def __exit__(self, *error):
        asked.append("exit")
started = False
cuda = types.SimpleNamespace(is_initialized=lambda: started, profiler=types.SimpleNamespace(
    start=lambda: asked.append("cudaProfilerStart"), stop=lambda: asked.append("cudaProfilerStop")))
torch = types.SimpleNamespace(cuda=cuda, autograd=types.SimpleNamespace(profiler=types.SimpleNamespace(emit_nvtx=Range)))
core.config = settings.Settings({"emit": "nvtx", "record_shapes": True, "verbose": True})
marks.windows = types.SimpleNamespace(torch=torch, over=False)
options.emit(torch, marks.windows)
asked.append("program")
started = True
options.device_started(torch)
asked.append("work")
for leave in life.at_end:
    leave()
    leave()
print(*asked, marks.windows.over, [row for row in core.rows if row[2] == "hook-failed"])
`

// TestEmitNVTXOpensTheWindow checks that with --emit nvtx the window that nsys -c cudaProfilerApi and nvprof
// --profile-from-start off wait for opens once the program has a device, and closes at its end, once.
func TestEmitNVTXOpensTheWindow(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	path := filepath.Join(t.TempDir(), "emit.py")
	if err := os.WriteFile(path, []byte(emitScript), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, path)
	command.Env = environment("PYTHONPATH=" + here(t) + "/py")
	output, err := command.CombinedOutput()
	if want := "program shapes enter cudaProfilerStart work cudaProfilerStop exit True []\n"; err != nil || string(output) != want {
		t.Errorf("%v\n%swant\n%s", err, output, want)
	}
}
