package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// realTraces is the folder of real traces beside the repository; tests that need it say so when it is missing.
const realTraces = "../../../shared/traces"

func realText(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(realTraces, name))
	if err != nil {
		tb.Skipf("no real traces here: %v", err)
	}
	plain, err := unpack(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	defer plain.Close()
	text, err := io.ReadAll(plain)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func realFiles(tb testing.TB) []string {
	tb.Helper()
	if _, err := os.Stat(realTraces); err != nil {
		tb.Skipf("no real traces here: %v", err)
	}
	var files []string
	err := filepath.WalkDir(realTraces, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "MANIFEST.md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		tb.Fatal(err, len(files))
	}
	return files
}

// formatsOf maps folders of real files that are no traces to what they must be recognised as.
var formatsOf = map[string]string{
	"cuda-memory-snapshot": "memory-snapshot", "et-chakra": "execution-trace", "line-profiler": "line-profiler",
	"memory-timeline": "memory-timeline", "nsys-sqlite": "nsys", "nvprof-sqlite": "nvprof", "pprof": "pprof",
	"pstats": "pstats", "speedscope": "speedscope",
}

func wantFormat(path string) string {
	dir := filepath.Base(filepath.Dir(path))
	base := filepath.Base(path)
	switch {
	case base == "empty.json":
		return FormatUnusable
	case strings.HasSuffix(base, "_et.json.gz"), strings.Contains(base, "megatron_et_"):
		return "execution-trace"
	case base == "aiu_allreduce_tp4.json":
		return "chrome"
	case base == "pippy_forward_hf_gpt2.json.gz":
		return "autograd-profiler"
	case formatsOf[dir] != "":
		return formatsOf[dir]
	}
	return "kineto"
}

func TestEveryRealFileOpens(t *testing.T) {
	for _, path := range realFiles(t) {
		t.Run(strings.TrimPrefix(path, realTraces+"/"), func(t *testing.T) {
			s, err := Open(context.Background(), []string{path}, Options{})
			want := wantFormat(path)
			if want == FormatUnusable {
				var unusable *UnusableError
				if !errors.As(err, &unusable) || !strings.Contains(err.Error(), "empty") {
					t.Fatalf("error %v, want one that says the file is empty", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if got := s.Inputs[0].Format; got != want {
				t.Fatalf("format %q, want %q", got, want)
			}
			if isTrace := want == "kineto" || want == "chrome" || want == "autograd-profiler" || want == "nvprof" ||
				want == "nsys" && !strings.Contains(path, "no_cuda"); isTrace != (len(s.Traces) == 1) {
				t.Fatalf("%d traces of a %s", len(s.Traces), want)
			} else if !isTrace && FormatText(want) == "" {
				t.Fatalf("nothing says what a %s is", want)
			} else if isTrace {
				describe(t, s)
			}
		})
	}
}

func describe(t *testing.T, s *model.Session) {
	tr := s.Traces[0]
	linked, work, ops, withParent := 0, 0, 0, 0
	for id, kind := range tr.Events.Kind {
		if kind.Device() {
			work++
			if tr.Events.Link[id] != model.NoEvent {
				linked++
			}
			if tr.Events.Op[id] != model.NoEvent {
				ops++
			}
		}
		if tr.Events.Parent[id] != model.NoEvent {
			withParent++
		}
	}
	t.Logf("%d events, %d lanes, device work %d, linked %d, with operator %d; %d have parents; %d memory, %d counters, %d steps; rank "+
		"%d/%d; %.3f s; external %v",
		tr.Events.Len(), len(tr.Lanes), work, linked, ops, withParent, len(tr.Memory.Time), len(tr.Counters),
		len(tr.Steps), tr.Rank, tr.World, model.Dur(tr.To-tr.From).Seconds(), tr.Features.ExternalLinks)
	for _, d := range s.Inputs[0].Diagnostics {
		t.Logf("%s: %d at %d: %s", d.Kind, d.Count, d.FirstOffset, d.Text)
	}
}
