package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestLinks reads what symbolic links name: a session and a directory of traces, given or within a directory, and a trace. A link to
// a directory that is no session is not followed from within one: it may lead back.
func TestLinks(t *testing.T) {
	d := newSessionDir(t)
	d.process("far-1-1", `{"pid": 1}`)
	d.write("far-1-1/trace-0.json",
		`{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}`)
	dir := t.TempDir()
	traces := filepath.Join(dir, "traces")
	if err := os.Mkdir(traces, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}`
	if err := os.WriteFile(filepath.Join(traces, "rank0.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	within := filepath.Join(dir, "within")
	if err := os.Mkdir(within, 0o700); err != nil {
		t.Fatal(err)
	}
	link := func(to, at string) string {
		if err := os.Symlink(to, at); err != nil {
			t.Skip(err) // Windows asks for a right
		}
		return at
	}
	link(filepath.Join(traces, "rank0.json"), filepath.Join(within, "rank1.json"))
	link(within, filepath.Join(within, "again"))
	link(filepath.Join(dir, "gone"), filepath.Join(within, "gone.json"))
	for name, path := range map[string]string{
		"session":         link(d.dir, filepath.Join(dir, "latest")),
		"traces":          link(traces, filepath.Join(dir, "latest-traces")),
		"file of a link":  within,
		"session of link": link(dir, filepath.Join(t.TempDir(), "all")),
	} {
		s, err := Open(context.Background(), []string{path}, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[string]int{"session of link": 3}[name]; len(s.Traces) != max(want, 1) {
			t.Errorf("%s: %d traces, want %d", name, len(s.Traces), max(want, 1))
		}
	}
}
