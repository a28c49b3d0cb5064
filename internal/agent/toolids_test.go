package agent

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// monitoring are the interpreters that have sys.monitoring (3.12 and later).
func monitoring(t *testing.T) map[string]string {
	found := map[string]string{}
	for name, interpreter := range interpreters(t) {
		if exec.Command(interpreter, "-c", "import sys; sys.monitoring").Run() == nil {
			found[name] = interpreter
		}
	}
	if len(found) == 0 {
		t.Skip("no interpreter here has sys.monitoring")
	}
	return found
}

// functionCalls reads how often each function of a program was called, as calls.prof has it.
func functionCalls(t *testing.T, interpreter, path, program string) map[string]string {
	t.Helper()
	const show = `import pstats, sys
for (file, line, name), row in pstats.Stats(sys.argv[1]).stats.items():
    if file.endswith(sys.argv[2]):
        print(name, row[1])`
	out, err := exec.Command(interpreter, "-c", show, path, program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counts := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		counts[name] = count
	}
	return counts
}

// TestToolIDsAreShared has calls counted and functions marked together, while the program takes none, some or all of the tool ids that
// have no owner: it gets each that it asks for, calls and marks go on by those that are left, and what ends is said to have ended.
func TestToolIDsAreShared(t *testing.T) {
	cases := []struct {
		program    string
		late, work string // calls that are counted
		last       int    // regions of the function that comes after the ids are taken
		notes      map[string]string
	}{
		{"monitors.py", "20", "100", 2, nil},
		{"monitors.py 4", "20", "100", 2, nil},
		{"monitors.py 3 5", "10", "50", 2, map[string]string{
			"calls-paused": "calls were counted until the program took the tool ids of sys.monitoring (3: program, 5: program)",
		}},
		{"monitors.py 3 4 5", "10", "50", 0, map[string]string{"calls-paused": "(3: program, 4: program)",
			"names-late": "(3: program, 4: program, 5: program): first calls of last "}},
	}
	for name, interpreter := range monitoring(t) {
		for _, c := range cases {
			t.Run(name+"/"+c.program, func(t *testing.T) {
				arguments := strings.Fields(c.program)
				plain := startPlain(t, interpreter, arguments...)
				config := Config{Calls: true, StepOn: []string{"late"}, RegionOn: []string{"work", "last"}}
				got, dir := withAgent(t, interpreter, config, nil, arguments...)
				same(t, plain, got)
				main := only(t, dir, "main")
				counts := functionCalls(t, interpreter, calls(t, dir), "monitors.py")
				if counts["late"] != c.late || counts["work"] != c.work {
					t.Errorf("%s calls of late and %s of work, want %s and %s", counts["late"], counts["work"], c.late, c.work)
				}
				const works = 100
				if steps, regions, last := len(main.of("step")), len(main.of("span", "region", "", "", "", "work")),
					len(main.of("span", "region", "", "", "", "last")); steps != 19 || regions != works || last != c.last {
					t.Errorf("%d steps, %d regions of work and %d of last, want 19, %d and %d", steps, regions, last, works, c.last)
				}
				for _, code := range []string{"calls-missing", "calls-paused", "names-late"} {
					said := ""
					for _, row := range main.of("note", "", code) {
						said += row[3].(string)
					}
					if want := c.notes[code]; want == "" && said != "" || !strings.Contains(said, want) {
						t.Errorf("%s: %q, want %q", code, said, want)
					}
				}
			})
		}
	}
}

// TestNamedFunctionsWhereCallsAreCounted has both on every interpreter, with threads, whose calls come by their own profilers.
func TestNamedFunctionsWhereCallsAreCounted(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			reference := filepath.Join(t.TempDir(), "reference.prof")
			start(t, interpreter, environment(), "-c", "import calls, cProfile; cProfile.run('calls.work()', '"+reference+"')")
			got, dir := withAgent(t, interpreter, Config{Calls: true, StepOn: []string{"work"}, RegionOn: []string{"Thing.missing"}},
				nil, "calls.py", "threads")
			if got.status != 0 || got.stdout != "done\n" || got.stderr != "" {
				t.Errorf("%+v", got)
			}
			compareCalls(t, interpreter, reference, calls(t, dir), 5, 25)
		})
	}
}

// TestTracersSeeTheProgramAlone compares what a program's own sys.settrace sees of threads that it starts while calls are counted.
func TestTracersSeeTheProgramAlone(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			plain := startPlain(t, interpreter, "traced.py")
			if plain.status != 0 || !strings.Contains(plain.stdout, "call traced.py work ") {
				t.Fatalf("%+v", plain)
			}
			got, dir := withAgent(t, interpreter, Config{Calls: true}, nil, "traced.py")
			same(t, plain, got)
			if counts := functionCalls(t, interpreter, calls(t, dir), "traced.py"); counts["work"] != "4" {
				t.Errorf("%s calls of work, want 4", counts["work"])
			}
		})
	}
}
