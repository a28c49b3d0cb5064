package agent

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// withSHM starts a command in a mount namespace of its own, in which /dev/shm holds so many MiB.
func withSHM(mib int, command ...string) []string {
	mount := fmt.Sprintf(`mount -t tmpfs -o size=%dm tmpfs /dev/shm && exec "$@"`, mib)
	return append([]string{"--mount", "--propagation", "private", "sh", "-c", mount, "sh"}, command...)
}

// TestSmallSharedMemory has DataLoader workers hand over more than /dev/shm holds: the session says what failed, of which DataLoader,
// and how large /dev/shm is, once; the program ends as it would.
func TestSmallSharedMemory(t *testing.T) {
	if out, err := exec.Command("unshare", withSHM(1, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no small /dev/shm can be mounted here: %v: %s", err, out)
	}
	cases := []struct {
		how, name   string
		mib, status int
		role        string
		line        float64 // where the DataLoader is built
	}{
		{"collate", "shm full", 4, 1, "main", 32},
		{"queue", "shm lost", 4, 1, "worker", 36},
		{"bus", "shm full", 64, 1, "main", 34},
		{"caught", "shm full", 4, 0, "main", 41},
	}
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, c := range cases {
			t.Run(generation+"/"+c.how, func(t *testing.T) {
				testkit.Wide(t, c.how != "queue")
				command := withSHM(c.mib, interpreter, "sharing.py", c.how)
				plain := start(t, "unshare", environment(), command...)
				result, dir := withAgent(t, "unshare", Config{}, nil, command...)
				if result.status != plain.status || result.stdout != plain.stdout || result.status != c.status {
					t.Errorf("%+v, without the agent %+v", result, plain)
				}
				all := read(t, dir)
				noFailures(t, all)
				found := 0
				for _, w := range all {
					for _, row := range w.of("span", "other", "", "", "", "") {
						if row[5] != "shm full" && row[5] != "shm lost" {
							continue
						}
						found++
						name, role, says := c.name, c.role, "unable to allocate shared memory"
						if c.how == "bus" || strings.Contains(row[8].(string), "Bus error") { // PyTorch 2.4 and older let the worker die
							name, role, says = "shm full", "main", "killed by signal: Bus error"
						}
						if file, _ := row[6].(string); row[5] != name || w.process["role"] != role ||
							!strings.HasSuffix(file, "sharing.py") || row[7] != c.line || !strings.Contains(row[8].(string), says) ||
							row[9] != float64(c.mib<<20) {
							t.Errorf("%v in a process of the role %v", row, w.process["role"])
						}
					}
				}
				if found != 1 {
					t.Errorf("said %d times", found)
				}
			})
		}
	}
}
