package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// zipped gives w a gzip member that write fills.
func zipped(t *testing.T, path string, write func(w io.Writer)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	write(z)
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("cannot write")
	}
}

// memoryOf is how much a function has allocated, in all, which bounds what it held.
func memoryOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSessionBombs opens sessions with files that unpack to far more than they are: each is cut where it turns absurd, and the report says
// so.
func TestSessionBombs(t *testing.T) {
	lines := func(w io.Writer) {
		block := strings.Repeat("[\"wait\",1,2]\n", 10_000)
		for range 400 { // 4 million rows in 200 kB
			_, _ = io.WriteString(w, block)
		}
	}
	zeros := func(w io.Writer) {
		for range 1 << 12 { // 256 MB
			_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<16))
		}
	}
	empty := func(w io.Writer) { _, _ = io.WriteString(w, "["+strings.Repeat("[],", 4<<20)+"[]]") }
	for _, c := range []struct {
		file, says string
		write      func(io.Writer)
	}{
		{"events.jsonl.gz", "too-many-rows", lines},
		{"events.jsonl.gz", "too-many-rows", zeros},
		{"modules-0.json.gz", "larger than 16 MiB", zeros},
		{"memory-0-cpu.json.gz", "full of empty lists", empty},
		{"trace-0.json.gz", "", zeros},
	} {
		d := newSessionDir(t)
		d.process("far-500-1", facts)
		if !strings.HasPrefix(c.file, "trace") {
			d.write("far-500-1/trace-0.json",
				`{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}`)
		}
		zipped(t, filepath.Join(d.dir, "far-500-1", c.file), c.write)
		var text string
		used := memoryOf(func() { text = said(d.open()) })
		if !strings.Contains(text, c.says) || used > 1<<30 {
			t.Errorf("%s: %d MB allocated, said %q, want %q", c.file, used>>20, text, c.says)
		}
	}
}

// TestSessionOfTooManySteps opens a session with rows that are as long as real ones and more than can be kept: it reads up to the bound, in
// little more memory than the steps need, and says so.
func TestSessionOfTooManySteps(t *testing.T) {
	var rows strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&rows, "[\"step\",%d,\"train\",\"optimizer\",%d,%d,\"baseline\",1,1]\n", i, 2*i+1, 2*i+2)
	}
	d := newSessionDir(t)
	d.process("far-500-1", facts)
	d.write("far-500-1/events.jsonl.gz", strings.Repeat(string(gzipMember(strings.TrimSuffix(rows.String(), "\n"))), 20))
	var s *model.Session
	used := memoryOf(func() { s = d.open() })
	if text := said(s); !strings.Contains(text, "more than 3 million rows; what came after them was not read") || used > 1<<30 {
		t.Errorf("%d MB allocated, said %q", used>>20, text)
	}
	if steps := len(s.Processes[0].Steps); steps != 200_000 {
		t.Errorf("%d steps that do not overlap, want 200,000", steps)
	}
}

// TestSampleBombs gives the reader of samples chunks that unpack to 100,000 times their size, tables of empty entries, and runs of millions
// of samples.
func TestSampleBombs(t *testing.T) {
	enc, _ := zstd.NewWriter(nil)
	chunk := func(plain []byte) []byte {
		packed := enc.EncodeAll(plain, make([]byte, 4))
		n := len(packed) - 4
		packed[0], packed[1], packed[2], packed[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
		return packed
	}
	// a dictionary of 16 million empty texts
	entries := append([]byte{0x12, 0x80, 0x80, 0x80, 0x10}, bytes.Repeat([]byte{0x2a, 0}, 16<<20)...)
	zeros := make([]byte, 48<<20)
	zeros[0], zeros[1], zeros[2], zeros[3], zeros[4] = 0x7a, 0xfb, 0xff, 0xff, 0x17 // an unknown field
	for name, file := range map[string][]byte{"entries": chunk(entries), "chunks": bytes.Repeat(chunk(zeros), 100)} {
		d := newSessionDir(t)
		d.launcher(record.Launcher{Host: "far", ChildPID: 500})
		d.process("far-500-1", facts)
		d.write("launcher-far-1-1/"+record.SamplesName, string(file))
		var text string
		used := memoryOf(func() { text = said(d.open()) })
		if !strings.Contains(text, "samples: ") || used > 1<<30 {
			t.Errorf("%s: %d MB allocated, said %q", name, used>>20, text)
		}
	}
}

// TestZipOfManyMembers reads an archive's list of members once, however many there are: each further look would cost as much as all before.
func TestZipOfManyMembers(t *testing.T) {
	const members = 20_000
	path := filepath.Join(t.TempDir(), "many.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for i := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("ranks/%d.json", i), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, `{"a": %d}`, i)
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("cannot write")
	}
	list, err := zipSources(path)
	if err != nil || len(list) != members {
		t.Fatalf("%d members, %v", len(list), err)
	}
	used := memoryOf(func() {
		for _, src := range list {
			r, err := src.open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(r); err != nil || r.Close() != nil {
				t.Fatal(err)
			}
		}
	})
	if perMember := used / members; perMember > 16<<10 { // the list alone is 5 MB
		t.Errorf("each member takes %d bytes to open", perMember)
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil && len(entries) > 100 {
		t.Errorf("%d files are open", len(entries))
	}
}

// TestSessionLinksAndPipes puts links that lead out of the session, pipes and devices in the place of each of its files: none is read, and
// what cannot be read is said.
func TestSessionLinksAndPipes(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	const secret = "def stolen(): pass"
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, name := range []string{"manifest.json", "measured.json", "far-500-1/process.json", "far-500-1/events.jsonl.gz",
		"far-500-1/trace-0.json", "far-500-1/trace-own-0.json.gz", "far-500-1/calls.prof", "far-500-1/calls-actions.json.gz",
		"far-500-1/modules-0.json.gz", "far-500-1/memory-0-cpu.json.gz", "launcher-far-1-1/launcher.json",
		"launcher-far-1-1/samples.pb.zst", "source/index.json", "source/" + text} {
		for kind, put := range odd(t, outside) {
			d := newSessionDir(t)
			d.launcher(record.Launcher{Host: "far", ChildPID: 500})
			d.process("far-500-1", facts)
			d.write("source/index.json", `{"/x/a.py": "`+text+`"}`)
			d.write("far-500-1/trace-0.json",
				`{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}`)
			path := filepath.Join(d.dir, name)
			_ = os.Remove(path)
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			s, err := Open(ctx, []string{d.dir}, Options{})
			cancel()
			if err != nil {
				t.Errorf("%s is a %s: %v", name, kind, err)
				continue
			}
			if source := s.Sources["/x/a.py"]; source != nil {
				t.Errorf("%s is a %s: %q is shown", name, kind, source.Lines)
			}
			// by this, or alone
			unread := strings.Contains(name, "calls-actions") || strings.Contains(name, "measured") || strings.HasPrefix(name, "source/0")
			if !unread && !strings.Contains(said(s), "no regular file inside of the session") {
				t.Errorf("%s is a %s: it is not said: %s", name, kind, said(s))
			}
		}
	}
}

// TestTracesOfAnArchiveKeepNoText reads many small traces that wait to be added, as those of a tar archive do: what they hold is their
// columns, not the memory that their text went through.
func TestTracesOfAnArchiveKeepNoText(t *testing.T) {
	const traces = 1000
	var waiting []*builder
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range traces {
		b := newBuilder(kineto.NewScanner(strings.NewReader(`{"traceEvents": [`+fine+`]}`)), TraceOptions{})
		if err := b.read("x"); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, b)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(waiting)
	if each := int64(after.HeapAlloc-before.HeapAlloc) / traces; each > 128<<10 {
		t.Errorf("each holds %d kB", each>>10)
	}
}

// TestPackedFileOfAnArchiveIsNotReadOn reads archives whose first files are packed and no trace, which is known before all of them is
// unpacked: what reads ahead of them must not go on reading the archive when it stands at the next file.
func TestPackedFileOfAnArchiveIsNotReadOn(t *testing.T) {
	noise := make([]byte, 2<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	stray := gzipped(t, "no trace"+string(noise))
	files := tarred(t, stray, []byte(rankText(0)), stray, stray, gzipped(t, rankText(1)), stray)
	path := write(t, t.TempDir()+"/job.tgz", gzipped(t, string(files)))
	for i := range 40 {
		s, err := Open(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Traces) != 2 {
			t.Fatalf("opened %d times: %d traces", i+1, len(s.Traces))
		}
	}
}
