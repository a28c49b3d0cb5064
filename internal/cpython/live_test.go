package cpython_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// interpreters are the CPythons of this machine that are supported: those of pyenv, and the system's own.
func interpreters(t testing.TB) map[string]string {
	t.Helper()
	home, _ := os.UserHomeDir()
	found := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	cache := os.Getenv("BOTTLENECK_CACHE") // where scripts/env.sh puts Debian sid
	if cache == "" {
		cache = filepath.Join(home, ".cache/bottleneck-dev")
	}
	sid, _ := filepath.Glob(filepath.Join(cache, "envs/torch-sid/bin/python3.*"))
	built, _ := filepath.Glob(filepath.Join(cache, "envs/python-*/bin/python3.*")) // free-threaded, with musl
	for _, p := range slices.Concat(paths, sid, built, []string{"/usr/bin/python3"}) {
		out, err := exec.Command(p, "-c", "import sys; print('%d.%d' % sys.version_info[:2], int(sys.version_info >= (3, 8)))").Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) != 2 || f[1] != "1" {
			continue
		}
		name := f[0]
		if kind, ok := strings.CutPrefix(filepath.Base(filepath.Dir(filepath.Dir(p))), "python-"); ok {
			name = kind // such as 3.13t
		}
		if found[name] != "" {
			name += "-system"
		}
		found[name] = p
	}
	for _, named := range strings.Fields(os.Getenv("BOTTLENECK_TEST_PYTHONS")) { // such as 3.14-debug=/path/python3.14d
		if name, p, ok := strings.Cut(named, "="); ok {
			found[name] = p
		}
	}
	if len(found) == 0 {
		t.Skip("no CPython 3.8 or later on this machine")
	}
	return found
}

// start runs a Python program and waits for its line "ready".
func start(t testing.TB, python string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "ready" {
		t.Fatalf("%s %v said %q, %v", python, args, line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return cmd
}

// marks finds the lines of a program by their remark "# NAME".
func marks(t testing.TB, file string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]int{}
	for i, l := range strings.Split(string(b), "\n") {
		if _, name, ok := strings.Cut(l, "  # "); ok {
			m[name] = i + 1
		}
	}
	return m
}

func stacks(s *cpython.Snapshot, file string) []string {
	var out []string
	for _, th := range s.Threads {
		var b strings.Builder
		if th.Fault != cpython.FaultNone {
			fmt.Fprintf(&b, "fault %d;", th.Fault)
		}
		for _, f := range th.Frames {
			if filepath.Base(f.Code.File) == filepath.Base(file) {
				fmt.Fprintf(&b, "%s:%d;", f.Code.Function, f.Line())
			}
		}
		out = append(out, b.String())
	}
	sort.Strings(out)
	return out
}

// readerOf is a reader of a program that start has started.
func readerOf(t testing.TB, cmd *exec.Cmd) *cpython.Reader {
	t.Helper()
	mem := proc.OpenMemory(cmd.Process.Pid)
	in, err := cpython.Find(cmd.Process.Pid, mem)
	if err != nil {
		t.Fatal(err)
	}
	return cpython.NewReader(in, mem, 100)
}

// TestShapes reads threads that stand still in known places and compares every frame and line.
func TestShapes(t *testing.T) {
	file := "testdata/shapes.py"
	m := marks(t, file)
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, file)
			mem := proc.OpenMemory(cmd.Process.Pid)
			in, err := cpython.Find(cmd.Process.Pid, mem)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(version, fmt.Sprintf("%d.%d", in.Layout.Major, in.Layout.Minor)) {
				t.Errorf("found version %s", in.Version)
			}
			r := cpython.NewReader(in, mem, 100)
			var s cpython.Snapshot
			checkShapes(t, r, &s, m, file, in.Layout.Minor)
			waitStill(t, r, &s)
		})
	}
}

// waitStill takes snapshots until all threads stand where they stood.
func waitStill(t *testing.T, r *cpython.Reader, s *cpython.Snapshot) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if err := r.Take(s); err != nil {
			t.Fatal(err)
		}
		still := true
		for _, th := range s.Threads {
			still = still && th.Same && !th.Moved
		}
		if still {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("threads that stand still differ from snapshot to snapshot")
		}
	}
}

func checkShapes(t *testing.T, r *cpython.Reader, s *cpython.Snapshot, m map[string]int, file string, minor int) {
	t.Helper()
	qual := func(short, long string) string {
		if minor >= 11 {
			return long
		}
		return short
	}
	chain := fmt.Sprintf("leaf:%d;chain:%d;", m["LEAF"], m["BOTTOM"]) +
		strings.Repeat(fmt.Sprintf("chain:%d;", m["CHAIN"]), 20)
	want := []string{
		fmt.Sprintf("produce:%d;consume:%d;", m["PRODUCE"], m["CONSUME"]),
		fmt.Sprintf("inner:%d;outer:%d;drive:%d;", m["INNER"], m["AWAIT"], m["DRIVE"]),
		fmt.Sprintf("%s:%d;%s:%d;call_from_c:%d;", qual("méthode", "Ünïcode.méthode"), m["METHOD"],
			qual("<lambda>", "call_from_c.<locals>.<lambda>"), m["FROM_C"], m["FROM_C"]),
	}
	// The program says "ready" just before its main thread waits: snapshots until it stands still.
	var got []string
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if err := r.Take(s); err != nil {
			t.Fatal(err)
		}
		if got = stacks(s, file); strings.Contains(strings.Join(got, "|"), fmt.Sprintf("leaf:%d;", m["LEAF"])) {
			break
		}
	}
	if len(got) != 4 {
		t.Fatalf("%d threads: %q", len(got), got)
	}
	all := strings.Join(got, "|")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("no thread stands at %s\n got %s", w, all)
		}
	}
	if !strings.Contains(all, chain) {
		t.Errorf("main thread: want %s\n got %s", chain, all)
	}
}
