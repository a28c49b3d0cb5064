package agent

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTellsOfTheLock asks for the settings of a free-threaded build whose lock an import has switched on, and of another build.
func TestTellsOfTheLock(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	command := exec.Command(python, "-c", `import sys
from _bneck_agent.facts import thread_settings
for flags, lock in ("t", True), ("td", False), ("d", True), ("", True):
    sys.abiflags, sys._is_gil_enabled = flags, lambda: lock
    print(thread_settings())`)
	command.Env = append(environment("PYTHONPATH="+here(t)+"/py"), "OMP_NUM_THREADS=3")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var told []string
	for line := range strings.Lines(string(output)) {
		_, setting, _ := strings.Cut(strings.TrimSpace(line), "sys._is_gil_enabled': ")
		told = append(told, setting)
		if !strings.Contains(line, "'OMP_NUM_THREADS': '3'") {
			t.Errorf("threads are not bounded in %s", line)
		}
	}
	if got := strings.Join(told, "|"); got != "'True'}|'False'}||" {
		t.Errorf("%q of\n%s", got, output)
	}
}
