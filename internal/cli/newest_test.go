package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/record"
)

// A person who has just run something does not type its path: the newest session here is taken and named.
func TestNewestSessionIsTaken(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, command := range [][]string{{"report"}, {"what-if", "--remove", "input"}, {"export", "--to", "csv"}} {
		if code, _, stderr := here(command...); code != exitUsage || !strings.Contains(stderr, "no session was found") {
			t.Errorf("%v without a session: status %d, %q", command, code, stderr)
		}
	}
	for name, created := range map[string]int64{"bottleneck-out/old": 1e18, "bottleneck-out/new": 3e18, "mine": 2e18} {
		dir := filepath.FromSlash(name)
		if _, err := record.Create(dir, record.Manifest{Job: name, CreatedUnixNS: created}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, stderr := here("report"); !strings.Contains(stderr, "takes the newest session here, "+
		filepath.FromSlash("bottleneck-out/new")+" of ") {
		t.Errorf("the newest of three: %q", stderr)
	}
	if err := os.RemoveAll(outputFolder); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := here("report"); !strings.Contains(stderr, "session here, mine of ") {
		t.Errorf("the only one: %q", stderr)
	}
}

// A trace that stands behind --json was meant as the path, and is not overwritten; a document of ours is.
func TestJSONTookThePath(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := record.Create("mine", record.Manifest{Job: "mine", CreatedUnixNS: 1}); err != nil {
		t.Fatal(err)
	}
	trace := `{"traceEvents": []}`
	if err := os.WriteFile("trace.json", []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := here("report", "--json", "trace.json"); code != exitUsage || !strings.Contains(stderr, "--json took trace.json") {
		t.Errorf("status %d, %q", code, stderr)
	}
	if left, _ := os.ReadFile("trace.json"); string(left) != trace {
		t.Errorf("the trace is now %.60q", left)
	}
	for range 2 {
		if code, _, stderr := here("report", "--json", "report.json"); code == exitUsage {
			t.Errorf("status %d, %q", code, stderr)
		}
	}
}

// Whoever forgets the command is told it.
func TestForgottenCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("trace.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"train.py": "`bottleneck run train.py`", "trace.json": "`bottleneck report trace.json`"} {
		if code, _, stderr := here(word, "--epochs", "2"); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q", word, code, stderr)
		}
	}
}
