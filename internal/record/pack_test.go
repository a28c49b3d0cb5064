package record

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// makeSession writes a small session that is full of names.
func makeSession(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run-1")
	if _, err := Create(dir, Manifest{Job: "slurm-77", Host: "gandalf.example.org",
		Command: []string{"python3", "/home/alice/secret/train.py", "--data", "/data/alice"}}); err != nil {
		t.Fatal(err)
	}
	launcher := filepath.Join(dir, "launcher-gandalf.example.org-10-99")
	process := filepath.Join(dir, "gandalf.example.org-11-100")
	for _, folder := range []string{launcher, process, filepath.Join(dir, SourceDir), filepath.Join(dir, AgentDir)} {
		if err := os.MkdirAll(folder, DirMode); err != nil {
			t.Fatal(err)
		}
	}
	l := Launcher{Host: "gandalf.example.org", Command: []string{"python3", "/home/alice/secret/train.py"}, CWD: "/home/alice/secret",
		Before: &Machine{ThreadSettings: map[string]string{"OMP_NUM_THREADS": "4", "LD_PRELOAD": "/home/alice/lib.so"}}}
	if err := l.Write(launcher); err != nil {
		t.Fatal(err)
	}
	trace := `{"host": "gandalf.example.org", "traceEvents": [
{"name": "aten::add", "args": {"Call stack": "/home/alice/secret/train.py(12): step;/usr/lib/python3.11/site-packages/torch/nn/modules/module.py(5): forward"}},
{"name": "train.py(3): <module>", "dur": 5, "x": "a\/b"}]}`
	writeZip(t, filepath.Join(process, "trace-0.json.gz"), trace)
	events := "[\"span\", \"io\", 1, 2, 3, \"save\", \"/home/alice/secret/train.py\", 7]\n"
	writeZip(t, filepath.Join(process, "events.jsonl.gz"), events)
	for name, text := range map[string]string{
		filepath.Join(process,
			ProcessName): `{"host": "gandalf.example.org", "argv": ["python3", "train.py", "--name", "projectx"], "cwd": "/home/alice/secret"}`,
		filepath.Join(dir, SourceDir, "index.json"): `{"/home/alice/secret/train.py": "00"}`,
		filepath.Join(dir, AgentDir, "a.py"):        "alice = 1",
	} {
		if err := os.WriteFile(name, []byte(text), FileMode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func writeZip(t *testing.T, path, text string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), FileMode); err != nil {
		t.Fatal(err)
	}
}

func pack(t *testing.T, dir string, r *Redactor) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s"+PackSuffix)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(context.Background(), f, dir, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPackRoundTrip(t *testing.T) {
	dir := makeSession(t)
	link := filepath.Join(t.TempDir(), "latest")
	if os.Symlink(dir, link) != nil {
		link = dir // Windows asks for a right
	}
	file := pack(t, link, nil)
	if !IsPacked(file) {
		t.Fatal("not recognised")
	}
	out, err := Unpack(context.Background(), file, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ManifestName, "launcher-gandalf.example.org-10-99/launcher.json",
		"gandalf.example.org-11-100/trace-0.json.gz", "source/index.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(out, AgentDir)); err == nil {
		t.Error("the agent's own files were packed")
	}
}

func TestPackRedacted(t *testing.T) {
	dir := makeSession(t)
	out, err := Unpack(context.Background(), pack(t, dir, NewRedactor()), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := readTree(t, out)
	for _, secret := range []string{"alice", "gandalf", "secret", "projectx", "slurm-77", "train.py"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is still there:\n%s", secret, all)
		}
	}
	for _, kept := range []string{"aten::add", "site-packages/torch/nn/modules/module.py(5): forward",
		`"OMP_NUM_THREADS": "4"`, "(12): step"} {
		if !strings.Contains(all, kept) {
			t.Errorf("%q is gone:\n%s", kept, all)
		}
	}
	m, err := ReadManifest(out)
	if err != nil || !m.Redacted {
		t.Errorf("manifest %+v, %v", m, err)
	}
	checkConsistent(t, all)
}

// checkConsistent finds the file of the trace's stack in the span and in the launcher's command.
func checkConsistent(t *testing.T, all string) {
	t.Helper()
	_, after, _ := strings.Cut(all, `"Call stack": "`)
	file, _, _ := strings.Cut(after, "(")
	if strings.Count(all, `"`+file+`"`) < 2 {
		t.Errorf("the file %q of the stack is not named alike elsewhere:\n%s", file, all)
	}
}

// readTree joins names and decompressed contents of a directory.
func readTree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				return err
			}
			if text, err = io.ReadAll(z); err != nil {
				return err
			}
			if strings.Contains(path, "-11-100/trace-") && !json.Valid(text) {
				t.Errorf("%s is no JSON any more: %.500s", path, text)
			}
		}
		rel, _ := filepath.Rel(dir, path)
		all.WriteString(rel + "\n" + string(text) + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestUnpackRefusesEscapes(t *testing.T) {
	for _, name := range []string{"../evil", "/etc/evil", "s/../../evil"} {
		var b bytes.Buffer
		z, _ := zstd.NewWriter(&b)
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: "s/manifest.json", Typeflag: tar.TypeReg, Size: 2})
		_, _ = io.WriteString(w, "{}")
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1})
		_, _ = io.WriteString(w, "x")
		_ = w.Close()
		_ = z.Close()
		parent := t.TempDir()
		file, dir := filepath.Join(parent, "p.tar.zst"), filepath.Join(parent, "a", "b")
		if err := os.WriteFile(file, b.Bytes(), FileMode); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(context.Background(), file, dir); err == nil {
			t.Errorf("%q was taken", name)
		}
		if _, err := os.Stat(filepath.Join(parent, "evil")); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}

func TestUnpackTakesWhatACutArchiveHolds(t *testing.T) {
	dir := makeSession(t)
	file := pack(t, dir, nil)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += max(1, len(whole)/40) {
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(cut, whole[:n], FileMode); err != nil {
			t.Fatal(err)
		}
		if IsPacked(cut) {
			if _, err := Unpack(context.Background(), cut, t.TempDir()); err != nil {
				t.Errorf("cut at %d of %d: %v", n, len(whole), err)
			}
		}
	}
}

func TestCompressReplacesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace-0.json")
	text := strings.Repeat(`{"a": 1}`, 10000)
	if err := os.WriteFile(path, []byte(text), FileMode); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Compress(cancelled, path); err == nil {
		t.Fatal("a cancelled compression succeeded")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Fatalf("left behind: %v", entries)
	}
	if err := Compress(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, filepath.Dir(path)); got != "trace-0.json.gz\n"+text+"\n" {
		t.Errorf("got %d bytes", len(got))
	}
}
