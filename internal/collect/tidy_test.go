package collect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeTrace(t *testing.T, path string, size int, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("{}"), size/2), 0o600); err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(-age)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

// names lists the files two levels below dir.
func names(t *testing.T, dir string) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// A trace is compressed once it has stopped growing; those of other hosts are left to their own launchers.
func TestFinishedTracesAreCompressed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]*") // a name that means something to glob
	writeTrace(t, filepath.Join(dir, "h1-5-9", "trace-0.json"), 4000, 0)
	writeTrace(t, filepath.Join(dir, "h2-5-9", "trace-0.json"), 4000, 0)
	tidier := &Tidier{dir: dir, prefix: "h1-", last: map[string]int64{}}
	ctx := context.Background()
	tidier.compressFinished(ctx)
	writeTrace(t, filepath.Join(dir, "h1-5-9", "trace-0.json"), 5000, 0) // still growing
	tidier.compressFinished(ctx)
	if got := names(t, dir); got != "h1-5-9/trace-0.json h2-5-9/trace-0.json" {
		t.Fatalf("compressed while it grew: %s", got)
	}
	tidier.compressFinished(ctx)
	if got := names(t, dir); got != "h1-5-9/trace-0.json.gz h2-5-9/trace-0.json" {
		t.Errorf("got %s", got)
	}
}

// The oldest traces go first, what is no trace stays, and it is said.
func TestPruneDropsTheOldestDetail(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		writeTrace(t, filepath.Join(dir, fmt.Sprintf("h-%d-1", i%2), fmt.Sprintf("trace-%d.json.gz", i)), 1000,
			time.Duration(10-i)*time.Minute)
	}
	writeTrace(t, filepath.Join(dir, "h-0-1", "events.jsonl.gz"), 500, time.Hour)
	tidier := &Tidier{dir: dir, maxBytes: 3600}
	if tidier.Dropped() != "" {
		t.Error("something is said to be dropped already")
	}
	tidier.Prune()
	if got := names(t, dir); got != "h-0-1/events.jsonl.gz h-0-1/trace-4.json.gz h-1-1/trace-3.json.gz h-1-1/trace-5.json.gz" {
		t.Errorf("left: %s", got)
	}
	if said := tidier.Dropped(); !strings.Contains(said, "oldest 3 traces") || !strings.Contains(said, "--max-size") {
		t.Errorf("said %q", said)
	}
}

func TestTidierWorksInTheBackground(t *testing.T) {
	dir := t.TempDir()
	writeTrace(t, filepath.Join(dir, "h-1-1", "trace-0.json"), 2000, 0)
	tidier := StartTidier(context.Background(), dir, "h", 0)
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for names(t, dir) != "h-1-1/trace-0.json.gz" {
		select {
		case <-deadline:
			t.Fatalf("not compressed: %s", names(t, dir))
		case <-tick.C:
		}
	}
	tidier.Stop()
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1 KiB", 3 << 29: "1.5 GiB", 2 << 30: "2 GiB",
		123456789: "118 MiB"} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
