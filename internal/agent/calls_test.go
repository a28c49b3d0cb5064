package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// interpreters are the Pythons of the generations, and every other one that pyenv has and the agent is meant for.
func interpreters(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, generation := range generations() {
		found[generation] = python(t, generation)
	}
	home, _ := os.UserHomeDir()
	paths, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(filepath.Dir(path)))
		if minor, err := strconv.Atoi(strings.Split(name, ".")[1]); err == nil && minor >= 8 {
			found[name] = path
		}
	}
	return found
}

// TestCallsAreCProfiles compares the counts of --calls with those of cProfile, function by function and caller by caller.
func TestCallsAreCProfiles(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			reference := filepath.Join(t.TempDir(), "reference.prof")
			plain := start(t, interpreter, environment(), "-m", "cProfile", "-o", reference, "calls.py")
			if plain.status != 0 {
				t.Fatal(plain.stderr)
			}
			got, dir := withAgent(t, interpreter, Config{Calls: true}, nil, "calls.py")
			same(t, plain, got)
			compareCalls(t, interpreter, reference, calls(t, dir), 1, 25)
		})
	}
}

// TestCallsOfAllThreads expects five times the counts of one thread.
func TestCallsOfAllThreads(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			reference := filepath.Join(t.TempDir(), "reference.prof")
			start(t, interpreter, environment(), "-c", "import calls, cProfile; cProfile.run('calls.work()', '"+reference+"')")
			got, dir := withAgent(t, interpreter, Config{Calls: true}, nil, "calls.py", "threads")
			if got.status != 0 || got.stdout != "done\n" || got.stderr != "" {
				t.Errorf("%+v", got)
			}
			compareCalls(t, interpreter, reference, calls(t, dir), 5, 25)
		})
	}
}

// TestCallsBesideCProfile runs a program that profiles itself: its own profile is what it would be without us, and ours
// holds its calls too where Python lets both count (3.12 and later), or those outside of it.
func TestCallsBesideCProfile(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			reference := filepath.Join(t.TempDir(), "reference.prof")
			own := filepath.Join(t.TempDir(), "own.prof")
			start(t, interpreter, environment(), "calls.py", "beside", reference)
			got, dir := withAgent(t, interpreter, Config{Calls: true}, nil, "calls.py", "beside", own)
			if got.status != 0 || got.stdout != "done\n" || got.stderr != "" {
				t.Errorf("%+v", got)
			}
			compareCalls(t, interpreter, reference, own, 1, 25)
			times := 1
			if start(t, interpreter, environment(), "-c", "import sys; sys.monitoring").status == 0 {
				times = 2
			}
			compareCalls(t, interpreter, reference, calls(t, dir), times, 25)
		})
	}
}

// TestCallsOfBoundFunctions expects the callers' chain to be whole after calls whose ends cProfile takes for their callers'.
func TestCallsOfBoundFunctions(t *testing.T) {
	const show = `import pstats, sys
for (file, line, name), row in sorted(pstats.Stats(sys.argv[1]).stats.items()):
    if name in ("bound", "even"):
        print(name, row[:2], sorted((caller[2], edge[:2]) for caller, edge in row[4].items()))`
	const want = "even (1, 3) [('bound', (1, 1)), ('odd', (2, 1))]\nbound (1, 1) [('<module>', (1, 1))]\n"
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			got, dir := withAgent(t, interpreter, Config{Calls: true}, nil, "calls.py", "bound")
			if got.status != 0 || got.stderr != "" {
				t.Errorf("%+v", got)
			}
			if shown := start(t, interpreter, environment(), "-c", show, calls(t, dir)); shown.stdout != want {
				t.Errorf("%s%s", shown.stdout, shown.stderr)
			}
		})
	}
}

// calls finds the one file of counts in a session.
func calls(t *testing.T, dir string) string {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "calls.prof"))
	if len(paths) != 1 {
		t.Fatalf("%d files of calls", len(paths))
	}
	return paths[0]
}

func compareCalls(t *testing.T, interpreter, reference, got string, times, atLeast int) {
	t.Helper()
	out, err := exec.Command(interpreter, "testdata/calls_compare.py", reference, got, strconv.Itoa(times)).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	count, _, _ := strings.Cut(lines[len(lines)-1], " ")
	n, _ := strconv.Atoi(count)
	if err != nil || len(lines) != 1 || n < atLeast {
		t.Errorf("%v\n%s", err, out)
	}
}
