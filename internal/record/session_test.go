package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestCreateJoinsOneJobAndRefusesAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if joined, err := Create(dir, Manifest{Job: "a"}); joined || err != nil {
		t.Fatalf("first launcher: joined %v, err %v", joined, err)
	}
	if joined, err := Create(dir, Manifest{Job: "a"}); !joined || err != nil {
		t.Fatalf("second launcher of the job: joined %v, err %v", joined, err)
	}
	var other *OtherJobError
	if _, err := Create(dir, Manifest{Job: "b"}); !errors.As(err, &other) || other.Job != "a" {
		t.Fatalf("another job: err %v", err)
	}
}

// A session is over when every launcher has noted an end; a name used again for the next run must not join it.
func TestOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	now := time.Now()
	if _, err := Create(dir, Manifest{Job: "a", CreatedUnixNS: now.UnixNano()}); err != nil {
		t.Fatal(err)
	}
	later := now.Add(time.Hour)
	if Over(dir, later) {
		t.Error("over before any launcher wrote")
	}
	for i, exit := range []*Exit{{Code: 0}, nil} {
		folder := filepath.Join(dir, LauncherPrefix+FolderName("h", i, now))
		if err := os.Mkdir(folder, DirMode); err != nil {
			t.Fatal(err)
		}
		if err := (&Launcher{Exit: exit}).Write(folder); err != nil {
			t.Fatal(err)
		}
		if got, want := Over(dir, later), exit != nil; got != want {
			t.Errorf("with %d launchers: over %v, want %v", i+1, got, want)
		}
		if Over(dir, now.Add(-time.Hour)) {
			t.Error("a session younger than asked for is over")
		}
	}
}

func TestCreateRefusesForeignFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var other *OtherJobError
	if _, err := Create(dir, Manifest{Job: "a"}); !errors.As(err, &other) {
		t.Fatalf("err %v, want a refusal", err)
	}
}

// Launchers of one job that start at the same moment agree on one manifest, and a reader never sees half of one.
func TestCreateAtTheSameTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var wg sync.WaitGroup
	var mu sync.Mutex
	first := 0
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			joined, err := Create(dir, Manifest{Job: "a", Command: []string{"x"}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !joined {
				first++
			}
		}()
	}
	wg.Wait()
	if first != 1 {
		t.Errorf("%d launchers made the manifest, want 1", first)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestSessionIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if _, err := Create(dir, Manifest{Job: "a"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: DirMode, filepath.Join(dir, ManifestName): FileMode} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), got, want)
		}
	}
}

func TestSourcesAreKeptOnce(t *testing.T) {
	dir, code := t.TempDir(), t.TempDir()
	paths := []string{filepath.Join(code, "a.py"), filepath.Join(code, "copy.py"), filepath.Join(code, "missing.py"), "<string>"}
	for _, p := range paths[:2] {
		if err := os.WriteFile(p, []byte("x = 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := SaveSources(dir, paths)
	if err != nil || saved != 2 {
		t.Fatalf("saved %d, %v", saved, err)
	}
	index, err := ReadSourceIndex(dir)
	if err != nil || index[paths[0]] == "" || index[paths[0]] != index[paths[1]] {
		t.Fatalf("index %v, %v", index, err)
	}
	text, err := ReadSource(dir, index[paths[0]])
	if err != nil || string(text) != "x = 1\n" {
		t.Fatalf("text %q, %v", text, err)
	}
	if _, err := ReadSource(dir, "../../etc/passwd"); err == nil {
		t.Fatal("a name outside of source/ was read")
	}
}

// TestRedactArguments has the launcher's rule for secrets follow the table that the agent's follows, too.
func TestRedactArguments(t *testing.T) {
	var table []struct{ Argv, Shown []string }
	if err := ReadJSON("testdata", "secrets.json", &table); err != nil || len(table) < 10 {
		t.Fatal(err, len(table))
	}
	for _, row := range table {
		if got := RedactArguments(row.Argv); !slices.Equal(got, row.Shown) {
			t.Errorf("%q became %q, want %q", row.Argv, got, row.Shown)
		}
	}
}

func TestFolderNameIsHarmless(t *testing.T) {
	got := FolderName("../a b/é", 7, time.UnixMilli(5))
	if filepath.Base(got) != got || got[0] == '.' {
		t.Errorf("%q is no plain name", got)
	}
}
