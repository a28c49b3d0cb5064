package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// The events are those of `export --to events`, on standard output or in a file, and of one step where that is asked for.
func TestReportEvents(t *testing.T) {
	trace := filepath.Join("..", "analyse", "testdata", "torch-2.15.0", "steps.json.gz")
	_, exported, _ := here("export", "--to", "events", trace)
	code, stdout, stderr := here("report", trace, "--events", "--json", "-")
	if code != 0 || stdout != exported || len(exported) < 1000 {
		t.Errorf("status %d, %d bytes where export gives %d: %s", code, len(stdout), len(exported), stderr)
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if code, stdout, stderr = here("report", trace, "--events", "--json", file); code != 0 || stdout != "" {
		t.Errorf("status %d, %q, %s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != exported {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if code, stdout, _ = here("report", trace, "--events", "--json", "-", "--from", "1ms"); code != 0 || stdout == "" ||
		len(stdout) >= len(exported) {
		t.Errorf("a part: status %d, %d of %d bytes", code, len(stdout), len(exported))
	}
	if code, _, stderr = here("report", trace, "--events"); code != 2 {
		t.Errorf("status %d", code)
	}
	expect(t, "message", stderr, "--json")
}
