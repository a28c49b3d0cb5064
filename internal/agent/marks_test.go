package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// named is a program without torch whose functions exist only when its loop begins.
const named = `import time
def work():
    end = time.monotonic() + 0.002
    while time.monotonic() < end: pass
def late():
    work()
for _ in range(20): late()
class Trainer:
    def fit_batch(self): work()
trainer = Trainer()
for _ in range(10): trainer.fit_batch()
print("end")
`

// TestNamedFunctionsFoundLate names functions of __main__ that come into being after the agent: all calls but the first are
// marked where the interpreter tells first calls (3.12 and later).
func TestNamedFunctionsFoundLate(t *testing.T) {
	interpreter, err := exec.LookPath("python3.13")
	if err != nil {
		interpreter = python(t, "newest")
	}
	if out, err := exec.Command(interpreter, "-c", "import sys; sys.monitoring").CombinedOutput(); err != nil {
		t.Skipf("needs sys.monitoring: %s", out)
	}
	path := filepath.Join(t.TempDir(), "named.py")
	if err := os.WriteFile(path, []byte(named), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := start(t, interpreter, environment(), path)
	agent, dir := withAgent(t, interpreter, Config{StepOn: []string{"late"}, RegionOn: []string{"Trainer.fit_batch", "Trainer.never"}},
		nil, path)
	same(t, plain, agent)
	main := only(t, dir, "main")
	if steps, regions := len(main.of("step")), len(main.of("span", "region")); steps != 19 || regions != 9 {
		t.Errorf("%d steps and %d regions", steps, regions)
	}
}
