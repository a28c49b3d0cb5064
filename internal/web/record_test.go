package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bottleneck/internal/report"
)

// binaryOnce builds the command once for all tests that record something.
var binaryOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "bottleneck")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/bottleneck").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// built is the folder of the command, "" where no test needed it.
var built string

// recorded are sessions of examples by what was run.
var recorded sync.Map

// record runs an example with its short arguments under the real command, once, and gives the session's folder. Without a Python with
// PyTorch it skips.
func record(t *testing.T, arguments ...string) string {
	t.Helper()
	return recordWith(t, nil, arguments...)
}

// recordWith is record with flags of run.
func recordWith(t *testing.T, flags []string, arguments ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("records a run of PyTorch")
	}
	python, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skipf("scripts/env.sh newest: %v", err)
	}
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	once, _ := recorded.LoadOrStore(strings.Join(slices.Concat(flags, arguments), " "), sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "session")
		if err != nil {
			return "", err
		}
		out := filepath.Join(dir, "run")
		command := exec.Command(binary, slices.Concat([]string{"run", "--out", out, "-o", "/dev/null"}, flags,
			[]string{"--", strings.TrimSpace(string(python))}, arguments)...)
		command.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		if text, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, text)
		}
		return out, nil
	}))
	dir, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	status := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	recorded.Range(func(_, once any) bool {
		if dir, err := once.(func() (string, error))(); err == nil {
			os.RemoveAll(filepath.Dir(dir))
		}
		return true
	})
	os.Exit(status)
}

// asJSON is the report document as `report --json` writes it, read again: what a test compares the page with.
func asJSON(t *testing.T, path string) *report.Report {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	decode(t, &r, binary, "report", "--json", "-", path)
	return &r
}

// decode runs a command that prints a document.
func decode(t *testing.T, to any, binary string, arguments ...string) {
	t.Helper()
	var stderr strings.Builder
	command := exec.Command(binary, arguments...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%q: %v %s", arguments, err, stderr.String())
	}
	if err := json.Unmarshal(out, to); err != nil {
		t.Fatal(err)
	}
}

func imagesRun(t *testing.T) string {
	return record(t, "../../examples/images.py", "--epochs", "2", "--images", "1280")
}

func ranksRun(t *testing.T) string {
	return record(t, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "../../examples/ranks.py", "--epochs", "2",
		"--documents", "6000")
}
