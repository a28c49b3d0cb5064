package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/ingest"
)

// listed counts how often a directory was listed.
var listed struct {
	dir string
	n   int
}

func init() {
	ingest.RegisterDirectory(ingest.DirectoryFormat{Match: func(dir string) bool {
		if dir == listed.dir {
			listed.n++
		}
		return false
	}})
}

// TestPathsAreListedOnce: how a directory is read depends on what is in it, and a job's directory on a shared file system is
// listed once for that and for the reading.
func TestPathsAreListedOnce(t *testing.T) {
	few, many := t.TempDir(), t.TempDir()
	for dir, n := range map[string]int{few: 2, many: manyRankFiles + 1} {
		for rank := range n {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank_%d.json", rank)), []byte(collectiveRank(rank)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, args := range [][]string{{"report", few}, {"report", many}, {"report", many, "--from", "100us", "--to", "350us"},
		{"report", few, "--style", "torch"}, {"report", few, "--events", "--json", "-"},
		{"export", "--to", "chrome", "-o", filepath.Join(t.TempDir(), "t.json"), few}, {"what-if", few, "--ranks-equal"}} {
		listed.dir, listed.n = few, 0
		if strings.Contains(strings.Join(args, " "), many) {
			listed.dir = many
		}
		var out, failure bytes.Buffer
		if code := Run(context.Background(), args, strings.NewReader(""), &out, &failure); code != 0 {
			t.Errorf("%v: exit status %d: %s", args, code, failure.String())
		}
		if listed.n != 1 {
			t.Errorf("%v: the directory was listed %d times", args, listed.n)
		}
	}
}
