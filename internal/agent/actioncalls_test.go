package agent

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// TestFunctionsOfActions compares the functions within a trainer's actions with those that Lightning's AdvancedProfiler counts in the
// same program. What brackets an action (its context manager, the profiler) each sees from its own side.
func TestFunctionsOfActions(t *testing.T) {
	testkit.Wide(t, true)
	bracket := func(name string) bool {
		return strings.Contains(name, "contextlib.py:") || strings.Contains(name, "/pytorch/profilers/") ||
			strings.HasSuffix(name, ":stop") || strings.HasSuffix(name, ":start") || strings.HasSuffix(name, "_fetch")
	}
	// Before Python 3.11 what the agent calls in torch and the standard library, to trace and to write, is counted.
	programs := func(name string) bool {
		return strings.Contains(name, "trainer_calls.py:") || strings.Contains(name, "/lightning/") ||
			strings.Contains(name, "/torch/nn/") || strings.Contains(name, "/torch/optim/")
	}
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			interpreter := python(t, generation)
			reference := filepath.Join(t.TempDir(), "reference.json")
			plain := start(t, interpreter, append(environment(), "OMP_NUM_THREADS=1"), "trainer_calls.py", reference)
			if plain.status == 3 {
				t.Skip("this generation has no Lightning")
			}
			if plain.status != 0 {
				t.Fatal(plain.stderr)
			}
			got, dir := withAgent(t, interpreter, Config{Calls: true}, []string{"OMP_NUM_THREADS=1"}, "trainer_calls.py")
			if got.status != 0 || got.stdout != "steps 2\n" {
				t.Fatalf("%+v", got)
			}
			noFailures(t, read(t, dir))
			var want map[string]map[string]int
			text, err := os.ReadFile(reference)
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			ours := actionCalls(t, dir)
			compared := 0
			for action, functions := range want {
				if _, ok := ours[action]; !ok {
					if action != "[LightningModule]Module.configure_callbacks" { // comes before the trainer has set up its profiler
						t.Errorf("%s was not counted", action)
					}
					continue
				}
				for name, calls := range functions {
					if bracket(name) {
						continue
					}
					compared++
					if got := ours[action][name]; got < calls || got > calls && programs(name) {
						t.Errorf("%s: %d calls of %s, AdvancedProfiler counts %d", action, ours[action][name], name, calls)
					}
				}
				for name, calls := range ours[action] {
					if _, ok := functions[name]; !ok && programs(name) && !bracket(name) {
						t.Errorf("%s: %d calls of %s, AdvancedProfiler counts none", action, calls, name)
					}
				}
			}
			step := ours["[Strategy]SingleDeviceStrategy.training_step"]
			for name, calls := range step {
				if strings.HasSuffix(name, ":twice") && calls == 6 {
					step = nil
				}
			}
			if step != nil || compared < 50 {
				t.Errorf("%d functions compared; of a training step %v", compared, step)
			}
		})
	}
}

// actionCalls reads the one calls-actions.json.gz of a session: how often each Python function was called in each action.
func actionCalls(t *testing.T, dir string) map[string]map[string]int {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "calls-actions.json.gz"))
	if len(paths) != 1 {
		t.Fatalf("%d files of actions' calls", len(paths))
	}
	f, err := os.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Functions [][3]any
		Actions   []struct {
			Name      string
			Functions [][5]int
		}
	}
	if err := json.NewDecoder(in).Decode(&file); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]int{}
	for _, a := range file.Actions {
		all[a.Name] = map[string]int{}
		for _, f := range a.Functions {
			if key := file.Functions[f[0]]; key[0] != "~" {
				all[a.Name][fmt.Sprintf("%v:%v:%v", key[0], key[1], key[2])] = f[2]
			}
		}
	}
	return all
}
