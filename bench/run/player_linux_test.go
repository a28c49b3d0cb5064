package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// takesTurns takes things from a queue for ever, beside a child that is busy, too.
const takesTurns = `import os, queue
if os.fork() == 0:
    while True:
        pass
things = queue.Queue()
while True:
    things.put(1)
    things.get()
`

// TestPlayer stops a program with its child, sees that it stands still, and lets it go on.
func TestPlayer(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	script, marks := filepath.Join(dir, "turns.py"), filepath.Join(dir, "marks")
	if err := os.WriteFile(script, []byte(takesTurns), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startPlayer([]string{python, "counted.py", marks, "queue", script}, marks)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	if err := p.await(func() bool { return p.steps() >= fewest && len(p.tree()) == 2 }, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := p.pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.await(func() bool { return stopped(p.tree()) }, time.Minute); err != nil {
		t.Fatal(err)
	}
	steps := p.steps()
	used, faults := p.used()
	began := monotonic()
	if err := p.resume(); err != nil {
		t.Fatal(err)
	}
	if err := p.await(func() bool { return len(p.between(began, monotonic())) >= fewest }, time.Minute); err != nil {
		t.Fatal(err)
	}
	// The step that was under way may carry a time from before.
	if before := int64(len(p.between(1, began))); before > steps+1 {
		t.Errorf("%d steps were noted before it was let go on, and %d when it stood still", before, steps)
	}
	if more, moreFaults := p.used(); more <= used || faults == 0 || moreFaults < faults {
		t.Errorf("it has gone on, and used %v of CPU time after %v, %d page faults after %d", more, used, moreFaults, faults)
	}
}

// stopped says whether all of the processes stand still.
func stopped(pids []int) bool {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(text), ") ")
		if err != nil || !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}

// TestReadEvents reads a session of two processes, of which one is still writing.
func TestReadEvents(t *testing.T) {
	session := t.TempDir()
	for name, text := range map[string]string{
		"host-1-1": "[\"window\",0,\"trace\",1,2]\n[\"window\", 1]\n[\"note\",5,\"measured\",\"over\"]\n",
		"host-2-1": "[\"note\",5,\"other\",\"measured\"]\n[\"window\",0]\n[\"step\",1]\n",
	} {
		folder := filepath.Join(session, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(folder, "events.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		packed := gzip.NewWriter(file)
		if _, err := packed.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		packed.Close()
		if name == "host-2-1" { // half of a further member
			if _, err := file.Write([]byte{0x1f, 0x8b, 8, 0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		file.Close()
	}
	seen, err := readEvents(session)
	if err != nil || seen != (events{windows: 3, measured: 1}) {
		t.Errorf("readEvents = %+v, %v; want 3 windows and 1 process", seen, err)
	}
}
