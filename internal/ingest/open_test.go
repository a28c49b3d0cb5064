package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

func rankText(rank int) string {
	return testkit.NewTrace().Key("distributedInfo", map[string]any{"backend": "nccl", "rank": rank, "world_size": 4,
		"pg_config": []any{map[string]any{"pg_name": "0", "pg_desc": "default", "ranks": "[0, 1, 2, 3]"}}}).
		Op("aten::add", 1, 1000, int64(500+rank)).String()
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

func tarred(t testing.TB, members ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("job/%d.json", i), Mode: 0o644, Size: int64(len(m)),
			Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipArchive(t testing.TB, members ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i, m := range members {
		w, err := z.Create(fmt.Sprintf("job/%d.json", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOpenContainers opens two ranks from everything that can hold them.
func TestOpenContainers(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, path string }{
		{"directory", filepath.Dir(write(t, dir+"/plain/a.json", []byte(rankText(0)))) + "/"},
		{"tar", write(t, dir+"/job.tar", tarred(t, []byte(rankText(0)), gzipped(t, rankText(1))))},
		{"tar.gz", write(t, dir+"/job.tgz", gzipped(t, string(tarred(t, []byte(rankText(0)), []byte(rankText(1))))))},
		{"zip", write(t, dir+"/job.zip", zipArchive(t, rankText(0), rankText(1)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "directory" {
				write(t, c.path+"nested/b.json.gz", gzipped(t, rankText(1)))
				write(t, c.path+"notes.txt", []byte("nothing to read"))
				write(t, c.path+".hidden.json", []byte(rankText(3)))
			}
			s, err := Open(context.Background(), []string{c.path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if len(s.Traces) != 2 || s.Traces[0].Rank != 0 || s.Traces[1].Rank != 1 || s.Traces[0].World != 4 {
				t.Fatalf("%d traces of %d inputs, want ranks 0 and 1", len(s.Traces), len(s.Inputs))
			}
			if g := s.Traces[0].Header.Groups; len(g) != 1 || len(g[0].Ranks) != 4 || g[0].Description != "default" {
				t.Errorf("groups %+v", g)
			}
		})
	}
}

// TestOpenPacked opens one trace in every packing, under a name that says something else.
func TestOpenPacked(t *testing.T) {
	text := rankText(2)
	for name, data := range map[string][]byte{
		"plain": []byte(text), "gzip": gzipped(t, text), "zstd": zstandard(t, text), "gzip of gzip": gzipped(t, string(gzipped(t, text))),
		"BOM": []byte("\xEF\xBB\xBF" + text), "two gzip members": append(gzipped(t, text[:50]), gzipped(t, text[50:])...),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Traces) != 1 || s.Traces[0].Rank != 2 || s.Traces[0].Events.Len() != 1 || len(s.Inputs[0].Diagnostics) != 0 {
				t.Fatalf("inputs %+v", s.Inputs)
			}
		})
	}
}

func TestOpenUnusable(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "empty"}, {"text", "hello, world", "no"}, {"object", `{"a": 1}`, "without traceEvents"},
		{"zip", "PK\x03\x04broken", "zip"}, {"gzip", "\x1F\x8B\x08broken", "unpack"}, {"binary", "\x7FELF\x02\x01", "format"},
	} {
		path := write(t, dir+"/"+c.name, []byte(c.data))
		_, err := Open(context.Background(), []string{path}, Options{})
		var unusable *UnusableError
		if !errors.As(err, &unusable) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names the file and says %q", c.name, err, c.want)
		}
	}
	if _, err := Open(context.Background(), []string{dir + "/missing"}, Options{}); !errors.As(err, new(*UnusableError)) ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(zipArchive(t, rankText(0)))}); err == nil ||
		!strings.Contains(err.Error(), "zip") {
		t.Errorf("zip from a pipe: %v", err)
	}
	good := write(t, dir+"/good.json", []byte(rankText(0)))
	s, err := Open(context.Background(), []string{good, dir + "/text"}, Options{})
	if err != nil || len(s.Inputs) != 2 || s.Inputs[1].Format != FormatUnusable {
		t.Errorf("a good file beside a bad one: %v", err)
	}
}

func TestOpenRanksAndProgress(t *testing.T) {
	dir := t.TempDir()
	for rank := range 4 {
		write(t, fmt.Sprintf("%s/%d.json", dir, rank), []byte(rankText(rank)))
	}
	write(t, dir+"/again.json", []byte(rankText(3)))
	var last, total int64
	s, err := Open(context.Background(), []string{dir}, Options{Rank: []int{1, 3}, Progress: func(d, n int64) { last, total = d, n }})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Traces) != 3 || last != total || total == 0 {
		t.Errorf("%d traces, progress %d of %d", len(s.Traces), last, total)
	}
	duplicates := 0
	for _, in := range s.Inputs {
		for _, d := range in.Diagnostics {
			if d.Kind == "duplicate-rank" {
				duplicates++
			}
		}
	}
	if duplicates != 1 {
		t.Errorf("%d files are said to repeat a rank, want 1", duplicates)
	}
	var lock sync.Mutex
	var order []int
	seen := map[int]bool{}
	s, err = Each(context.Background(), []string{dir}, Options{}, func(_ int, own *model.Session, tr *model.Trace) (func(), error) {
		lock.Lock()
		defer lock.Unlock()
		seen[tr.Rank] = true
		return func() { order = append(order, tr.Rank) }, own.Check()
	})
	if want := []int{0, 1, 2, 3, 3}; !slices.Equal(order, want) {
		t.Errorf("ranks were folded in the order %v, want %v", order, want)
	}
	if err != nil || len(seen) != 4 || len(s.Traces) != 0 || len(s.Inputs) != 5 {
		t.Errorf("Each: %v, ranks %v, %d traces kept, %d inputs", err, seen, len(s.Traces), len(s.Inputs))
	}
	stop := errors.New("stop")
	if _, err := Each(context.Background(), []string{dir}, Options{},
		func(int, *model.Session, *model.Trace) (func(), error) { return nil, stop }); !errors.Is(err, stop) {
		t.Errorf("an error of visit came back as %v", err)
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := write(t, t.TempDir()+"/a.json", []byte(rankText(0)))
	if _, err := Open(ctx, []string{path}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// FuzzOpen opens any bytes as any format: no panic, and the invariants hold.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(rankText(1)))
	f.Add(gzipped(f, rankText(1)))
	f.Add(zstandard(f, rankText(1)))
	f.Add(tarred(f, []byte(rankText(0)), gzipped(f, rankText(1))))
	f.Add([]byte("SQLite format 3\x00 CUPTI_ACTIVITY_KIND_KERNEL StringTable"))
	f.Add([]byte("\x80\x04 segments device_traces"))
	f.Add([]byte("\x0a\x04\x08\x01\x10\x02\x12\x04\x08\x01\x10\x02\x32\x00"))
	f.Add([]byte("\xFF\xFE[\x00]\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
