package agent

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// TestLightningRows runs a trainer: its batches are the steps, kept apart by kind, and its actions are spans.
func TestLightningRows(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			plain := startPlain(t, interpreter, "trainer.py")
			if plain.status == 3 {
				t.Skip("this generation has no Lightning")
			}
			agent, dir := withAgent(t, interpreter, Config{}, nil, "trainer.py")
			if plain.status != agent.status || plain.stdout != agent.stdout || plain.stdout != "steps 12\n" {
				t.Fatalf("%+v\nwithout the agent\n%+v", agent, plain)
			}
			main := only(t, dir, "main")
			train, validation := main.of("step", "", "train", "trainer"), main.of("step", "", "validation", "trainer")
			if len(train) != 12 || len(validation) != 3 {
				t.Errorf("%d steps of training, %d of validation", len(train), len(validation))
			}
			actions := map[string]int{}
			for _, row := range main.of("span", "action") {
				actions[row[5].(string)]++
			}
			if actions["run_training_batch"] != 12 {
				t.Errorf("actions %v", actions)
			}
			count := 0.0
			for _, row := range main.of("count", "action_count:run_training_batch") {
				count = row[2].(float64)
			}
			if count != 12 {
				t.Errorf("%v actions of a training batch are counted", count)
			}
			phases := map[string]int{}
			for _, row := range train {
				phases[row[6].(string)]++
			}
			undistorted := -1.0
			for _, row := range main.of("count", "action_undistorted_count:run_training_batch") {
				undistorted = row[2].(float64)
			}
			// the first step follows the slice before it
			if want := phases["baseline"]; int(undistorted) != want || want == 0 || want == 12 {
				t.Errorf("%v training batches without the profiler, of steps in phases %v", undistorted, phases)
			}
		})
	}
}

// TestActionsEndWithMeasuring: a trainer's actions are watched no longer than its steps.
func TestActionsEndWithMeasuring(t *testing.T) {
	interpreter := python(t, "newest")
	result, dir := withAgent(t, interpreter, Config{Steps: 5}, nil, "trainer.py")
	if result.status != 0 || result.stdout != "steps 12\n" {
		t.Fatalf("%+v", result)
	}
	main, count := only(t, dir, "main"), 0.0
	for _, row := range main.of("count", "action_count:run_training_batch") {
		count = row[2].(float64)
	}
	if steps := len(main.of("step", "", "train", "trainer")); steps != 5 || count != 5 {
		t.Errorf("%d steps and %v actions of a training batch, of 5", steps, count)
	}
}

// TestRanksRows runs two ranks under torchrun: each process says what it is, all traced ranks trace the same steps, and ranks
// that were not asked for are stepped all the same.
func TestRanksRows(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for name, ranks := range map[string][]int{"all": nil, "the second": {1}} {
			t.Run(generation+"/"+name, func(t *testing.T) {
				testkit.Wide(t, name != "all")
				if generation == "torch-debian" {
					t.Skip("its torchrun cannot start any program")
				}
				folder := t.TempDir()
				result, dir := withAgent(t, interpreter, Config{Ranks: ranks}, []string{"OMP_NUM_THREADS=1"},
					"-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "ranks.py", folder)
				if result.status != 0 {
					t.Fatalf("%+v", result)
				}
				all := read(t, dir)
				noFailures(t, all)
				if launchers := role(all, "launcher"); len(launchers) != 1 {
					t.Errorf("%d launchers", len(launchers))
				}
				windows := map[float64]string{}
				for _, w := range role(all, "rank") {
					rank := w.process["rank"].(float64)
					if w.process["world_size"] != 2.0 || w.process["local_rank"] != rank {
						t.Errorf("rank %v: %v of %v", rank, w.process["local_rank"], w.process["world_size"])
					}
					if steps := len(w.of("step", "", "train")); steps < 29 {
						t.Errorf("rank %v: %d steps", rank, steps)
					}
					if content(t, filepath.Join(folder, "rank-"+string(rune('0'+int(rank))))) == "" {
						t.Errorf("rank %v wrote nothing", rank)
					}
					windows[rank] = stepWindows(t, w)
				}
				if len(windows) != 2 || windows[1] == "" || ranks == nil && windows[0] != windows[1] || ranks != nil && windows[0] != "" {
					t.Errorf("windows of steps by rank: %v", windows)
				}
			})
		}
	}
}

// TestStartedRanks runs two ranks that a program starts itself, as torch.multiprocessing does: they are ranks though nothing told them so
// when they started, though they have ended their group before they end, and though they are killed; their children are none.
func TestStartedRanks(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, how := range [][2]string{{"spawn", "arguments"}, {"spawn", "variables"}, {"fork", "arguments"}, {"spawn", "killed"}} {
			t.Run(generation+"/"+how[0]+"/"+how[1], func(t *testing.T) {
				testkit.Wide(t, how[0] != "fork")
				result, dir := withAgent(t, interpreter, Config{NoTrace: how[1] == "killed"}, []string{"OMP_NUM_THREADS=1"},
					"spawned.py", t.TempDir(), how[0], how[1])
				if result.status != 0 {
					t.Fatalf("%+v", result)
				}
				all := read(t, dir)
				noFailures(t, all)
				found := map[any]bool{}
				for _, w := range role(all, "rank") {
					found[w.process["rank"]] = true
					if w.process["world_size"] != 2.0 {
						t.Errorf("rank %v of %v", w.process["rank"], w.process["world_size"])
					}
				}
				if ranks := len(role(all, "rank")); ranks != 2 || !found[0.0] || !found[1.0] {
					t.Errorf("%d ranks, numbers %v", ranks, found)
				}
				if n := len(role(all, "main")); n != 1 {
					t.Errorf("%d processes of role main", n)
				}
			})
		}
	}
}

// stepWindows lists the first and end steps of a rank's windows; each trace must say whose it is.
func stepWindows(t *testing.T, w written) string {
	t.Helper()
	var steps []string
	for _, row := range w.of("window") {
		if row[6].(float64) < 0 {
			continue
		}
		text, err := json.Marshal(row[6:8])
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, string(text))
		var header struct {
			Distributed *struct{ Rank float64 } `json:"distributedInfo"`
		}
		if err := json.Unmarshal([]byte(content(t, filepath.Join(w.dir, row[9].(string)))), &header); err != nil {
			t.Fatal(err)
		}
		if header.Distributed == nil || header.Distributed.Rank != w.process["rank"] {
			t.Errorf("the trace of rank %v says %+v", w.process["rank"], header.Distributed)
		}
	}
	return strings.Join(steps, " ")
}
