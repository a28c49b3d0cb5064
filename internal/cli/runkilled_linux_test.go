package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestLauncherKilledInAnyPhase kills bottleneck while the program is in its first step, in a window of the profiler, in one
// with shapes, and between windows: the program goes on to its end, and the session holds all its steps.
func TestLauncherKilledInAnyPhase(t *testing.T) {
	out, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skipf("scripts/env.sh newest: %v", err)
	}
	interpreter := strings.TrimSpace(string(out))
	for phase, step := range map[string]int{"warmup": 0, "trace": 6, "detail": 24, "baseline": 40} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.env = append(b.env, "OMP_NUM_THREADS=1")
			b.file("s.py", fmt.Sprintf(`import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    if step == %d:
        print("ready", flush=True)
        input()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print("over", flush=True)
`, step))
			cmd, stdin, stdout, stderr := b.startPiped("run", "--python", interpreter, "s.py")
			awaitLine(t, stdout, "ready")
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_, _ = cmd.Process.Wait()
			_, _ = io.WriteString(stdin, "\n")
			awaitLine(t, stdout, "over")
			for range stdout { // until the program has ended
			}
			for line := range stderr {
				t.Errorf("standard error: %s", line)
			}
			if got := b.run("", "report", "--json", "report.json", b.session()); got.code != 0 {
				t.Fatalf("report: %+v", got)
			}
			var doc struct {
				Steps []struct{ Count int }
			}
			if err := json.Unmarshal([]byte(b.read("report.json")), &doc); err != nil {
				t.Fatal(err)
			}
			if len(doc.Steps) == 0 || doc.Steps[0].Count != 59 && doc.Steps[0].Count != 60 {
				t.Errorf("steps %+v", doc.Steps)
			}
		})
	}
}
