package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/record"
	"bottleneck/internal/report"
)

// TestCudaBlockingIsThePrograms sets the variable for the program, also for what it starts, and the session says so.
func TestCudaBlockingIsThePrograms(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os\nprint('blocking', os.environ.get('CUDA_LAUNCH_BLOCKING'))\n")
	if got := b.run("", "run", "--cuda-blocking", "s.py"); got.code != 0 || got.stdout != "blocking 1\n" {
		t.Fatalf("run: %+v", got)
	}
	launchers, _, err := record.Folders(b.session())
	if err != nil || len(launchers) != 1 {
		t.Fatalf("%v, %v", launchers, err)
	}
	l, err := record.ReadLauncher(launchers[0])
	if err != nil || l.Flags["cuda-blocking"] != "true" || l.Before.ThreadSettings["CUDA_LAUNCH_BLOCKING"] != "1" {
		t.Errorf("flags %v, settings %v, %v", l.Flags, l.Before.ThreadSettings, err)
	}
}

// blockingSession is a session around a real trace; settings are the program's variables.
func blockingSession(t *testing.T, trace string, settings map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	if _, err := record.Create(dir, record.Manifest{Job: "one", CreatedUnixNS: 1, Command: []string{"train.py"}}); err != nil {
		t.Fatal(err)
	}
	process := filepath.Join(dir, "far-500-1")
	if err := os.MkdirAll(process, record.DirMode); err != nil {
		t.Fatal(err)
	}
	facts, err := json.Marshal(map[string]any{"schema": "bottleneck.process/1", "host": "far", "role": "main", "pid": 500,
		"argv":  []string{"train.py"},
		"torch": map[string]any{"version": "2.15.0"}, "threads_env": settings})
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"process.json": facts, "trace-0.json.gz": text} {
		if err := os.WriteFile(filepath.Join(process, name), text, record.FileMode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hiddenCauses are those whose price is time that an ordinary run may spend beside the device's work.
var hiddenCauses = []string{"sync", "launch", "copy", "comm-exposed", "alloc", "input", "python"}

// TestSynchronousTimesPriceNoOverlap reads real traces of GPUs as they are and as those of programs whose launches waited: the second
// name nothing that an ordinary run might hide, the first do, and what kernels could save stays.
func TestSynchronousTimesPriceNoOverlap(t *testing.T) {
	for _, c := range []struct {
		trace  string
		hidden []string
	}{
		{"sidnb13-transformer-h100/dcb0aa1a78e7_4399.1752181589621105859.pt.trace.json.gz", []string{"launch"}},
		{"segment-anything-fast/compiled_annotated_True.json.gz", []string{"sync", "copy"}},
		{"kineto-tb-resnet50/autograd_api_workers0.pt.trace.json.gz", []string{"alloc", "input"}},
		{"param-linear/linear_kineto_2080ti.json.gz", []string{"launch", "python"}},
		{"hta-nccl-a100/nccl_data.json.gz", []string{"comm-exposed"}},
	} {
		trace := realFile(t, filepath.FromSlash(c.trace))
		usual := reportOf(t, blockingSession(t, trace, nil))
		for _, cause := range c.hidden {
			if !slices.Contains(causesOf(usual), cause) {
				t.Errorf("%s: %v, want %s", c.trace, causesOf(usual), cause)
			}
		}
		dir := blockingSession(t, trace, map[string]string{"CUDA_LAUNCH_BLOCKING": "1"})
		blocking := reportOf(t, dir)
		for _, cause := range causesOf(blocking) {
			if slices.Contains(hiddenCauses, cause) {
				t.Errorf("%s, synchronous: %s is priced", c.trace, cause)
			}
		}
		for _, cause := range causesOf(usual) {
			if !slices.Contains(hiddenCauses, cause) && !slices.Contains(causesOf(blocking), cause) {
				t.Errorf("%s, synchronous: %s is gone", c.trace, cause)
			}
		}
		if notes := strings.Join(blocking.Account.Notes, "; "); !strings.Contains(notes, "times are synchronous (CUDA_LAUNCH_BLOCKING=1)") {
			t.Errorf("%s, synchronous: notes %q", c.trace, notes)
		}
		if notes := strings.Join(usual.Account.Notes, "; "); strings.Contains(notes, "synchronous") {
			t.Errorf("%s: notes %q", c.trace, notes)
		}
		code, _, stderr := here("what-if", "--remove", "launch", dir)
		if code != exitUnusable || !strings.Contains(stderr, "record one without --cuda-blocking") {
			t.Errorf("%s, synchronous: what-if: %d, %s", c.trace, code, stderr)
		}
	}
}

func reportOf(t *testing.T, path string) *report.Report {
	t.Helper()
	code, stdout, stderr := here("report", "--json", "-", path)
	doc := &report.Report{}
	if err := json.Unmarshal([]byte(stdout), doc); code != 0 || err != nil || doc.Account == nil {
		t.Fatalf("%s: status %d, %v, %s", path, code, err, stderr)
	}
	return doc
}

func causesOf(r *report.Report) (out []string) {
	for i := range r.Findings {
		out = append(out, r.Findings[i].Cause)
	}
	return out
}
