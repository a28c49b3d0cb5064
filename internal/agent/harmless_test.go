package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// TestProgramsDoNotNotice runs programs that torch's profiler would kill, hang or rob if it were used without care, and
// programs that end in unusual ways, with and without the agent.
func TestProgramsDoNotNotice(t *testing.T) {
	cases := []struct {
		program string
		config  Config
		narrow  bool // does make test run it on the newest generation, too?
	}{
		{program: "train.py 2", narrow: true},
		{program: "fork.py", narrow: true},
		{program: "program_profiles.py", narrow: true},
		{program: "step_raises.py"},
		{program: "raises.py dataset"}, {program: "raises.py model"}, {program: "raises.py closure", narrow: true},
		{program: "raises.py cause"}, {program: "raises.py caught"}, {program: "raises.py worker"},
		{program: "stacks.py", config: Config{WithStack: true}},
		{program: "children.py"}, {program: "left.py", narrow: true},
		{program: "abrupt.py fds", narrow: true}, {program: "abrupt.py user"}, {program: "abrupt.py environ"},
		{program: "abrupt.py vanish SESSION"}, {program: "abrupt.py full SESSION"}, {program: "abrupt.py raise"},
		{program: "abrupt.py exit"}, {program: "abrupt.py os-exit"}, {program: "abrupt.py thread SIGINT"},
		{program: "abrupt.py thread SIGTERM"}, {program: "abrupt.py atexit SIGINT", narrow: true}, {program: "abrupt.py atexit SIGTERM"},
		{program: "abrupt.py memory"}, {program: "held.py stopped", narrow: true}, {program: "held.py exited"}, {program: "held.py legacy"},
		{program: "held.py itt"}, {program: "held.py stopped", config: Config{WithStack: true}},
		{program: "abrupt.py kill"}, {program: "abrupt.py term"}, {program: "abrupt.py interrupt"}, {program: "abrupt.py exec"},
		{program: "abrupt.py exit", config: Config{WithStack: true}},
		{program: "abrupt.py exit", config: Config{WholeRun: true, ProfileMemory: true, RecordShapes: true}},
		{program: "abrupt.py exit", config: Config{Sample: 200}},
	}
	for _, generation := range generations() {
		interpreter := interpreterOf(t, generation)
		for i, c := range cases {
			t.Run(generation+"/"+c.program, func(t *testing.T) {
				testkit.Wide(t, !c.narrow)
				if third, ok := map[string]int{"torch-2.4": 0, "torch-1.13": 1, "torch-debian": 2}[generation]; ok && testing.Short() && !c.narrow &&
					i%3 != third {
					t.Skip("the newest PyTorch runs all of these, each older one a third")
				}
				t.Parallel()
				arguments := strings.Fields(c.program)
				spare := t.TempDir()
				plainArguments := slices.Clone(arguments)
				for i := range plainArguments {
					plainArguments[i] = strings.ReplaceAll(plainArguments[i], "SESSION", spare)
				}
				plain := startPlain(t, interpreter, plainArguments...)
				agent, dir := withAgent(t, interpreter, c.config, nil, arguments...)
				same(t, plain, agent)
				all := read(t, dir)
				noFailures(t, all)
				if c.program != "abrupt.py vanish SESSION" && len(all) == 0 {
					t.Error("no process wrote anything")
				}
			})
		}
	}
}

var hookNames = regexp.MustCompile(`@core\.hook\("([^"]+)"\)`)

// hooks lists the names of all hooks in the agent's text, with those that are made from parts.
func hooks(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("py/_bneck_agent/*.py")
	if err != nil || len(paths) < 10 {
		t.Fatalf("the agent's files: %v, %v", paths, err)
	}
	names := []string{"mark-optimized", "mark-batch-wanted", "mark-batch-given", "mark-loop-ended", "mark-called",
		"mark-manual", "mark-rest", "install-data", "install-optimizers", "install-modules", "install-writes", "loaded torch"}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range hookNames.FindAllStringSubmatch(string(text), -1) {
			if match[1] != "mark-" {
				names = append(names, match[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestNoHookCanHarm makes each hook raise, one after the other and all at once.
func TestNoHookCanHarm(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		plain := start(t, interpreter, environment(), "everything.py")
		if plain.status != 5 {
			t.Fatalf("%s: the program itself fails: %+v", generation, plain)
		}
		names := append([]string{"*"}, hooks(t)...)
		if len(names) < 50 {
			t.Fatalf("only %d hooks found", len(names))
		}
		if os.Getenv("BOTTLENECK_FAULTS") != "all" { // the other fifty take minutes: make test-faults
			names = []string{"*", "boundary", "end", "fork-child", "profiler-end", "profiler-fork", "program-profiler-starts"}
		}
		for _, name := range names {
			t.Run(generation+"/"+name, func(t *testing.T) {
				testkit.Wide(t, name != "*")
				t.Parallel()
				config := Config{RegionOn: []string{"main"}, Sample: 100}
				agent, _ := withAgent(t, interpreter, config, []string{"BNECK_FAULT=" + name}, "everything.py")
				want := plain
				if strings.HasPrefix(name, "kineto-line") { // a session of ours takes the line then
					want.stderr, agent.stderr = kinetoLine.ReplaceAllString(want.stderr, ""), kinetoLine.ReplaceAllString(agent.stderr, "")
				}
				same(t, want, agent)
			})
		}
	}
}

// kinetoLine is what hooks of that name keep for the program (kinetoline.py).
var kinetoLine = regexp.MustCompile(`(?m)^.*GetDeviceCount failed.*\n`)
