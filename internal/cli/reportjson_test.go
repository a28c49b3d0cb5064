package cli

import (
	"strings"
	"testing"
)

// A session given right after --json is taken for the file to write: the message says so, and nothing is written there.
func TestJSONTakesAFile(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := here("report", "--json", dir)
	if want := "report --json - " + dir; code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
		t.Errorf("status %d, want %q in %q", code, want, stderr)
	}
}
