package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// trainerCase is a program of testdata under a trainer or an engine: what it says of its own steps, and what the agent sees.
type trainerCase struct {
	command string
	deps    bool // needs scripts/env.sh trainers
	stdout  string
	steps   string         // kind/source*count, in order
	loaders []int          // lines of the program at which its loaders were built, in the order of their use
	actions map[string]int // some of them
}

var trainerCases = []trainerCase{
	{"hugging.py train 1", true, "steps 24 24", "train/trainer*12 validation/trainer*3 train/trainer*12 validation/trainer*3",
		[]int{55, 55, 55},
		map[string]int{"[Trainer]Mine.train": 1, "[Trainer]Mine.training_step": 24, "[Trainer]Mine.evaluate": 2,
			"[Accelerator]Accelerator.backward": 24, "[Callback]Counting.on_step_end": 24, "[Optimizer]AcceleratedOptimizer.step": 24}},
	{"hugging.py train 4", true, "steps 6 6", "train/trainer*3 validation/trainer*3 train/trainer*3 validation/trainer*3",
		[]int{55, 55, 55},
		map[string]int{"[Trainer]Mine.training_step": 24, "[Trainer]Mine.prediction_step": 6, "[Callback]Counting.on_step_end": 6}},
	{"hugging.py evaluate 1", true, "steps 0 0", "validation/trainer*3", []int{57}, map[string]int{"[Trainer]Mine.evaluate": 1}},
	{"hugging.py predict 1", true, "steps 0 0", "inference/trainer*5", []int{59}, map[string]int{"[Trainer]Mine.predict": 1}},
	{"accelerated.py 1", true, "steps 48", "train/optimizer*24 validation/dataloader*6 train/optimizer*24 validation/dataloader*6",
		[]int{12, 13}, map[string]int{"[Accelerator]Accelerator.backward": 48, "[DataLoader]DataLoaderShard.next": 60}},
	{"accelerated.py 4", true, "steps 12", "train/optimizer*6 validation/dataloader*6 train/optimizer*6 validation/dataloader*6",
		[]int{12, 13}, nil},
	{"engine.py deepspeed 1 tensors", true, "steps 48", "train/optimizer*48", nil,
		map[string]int{"[DeepSpeedEngine]DeepSpeedEngine.step": 48}},
	{"engine.py deepspeed 2 loader", true, "steps 24", "train/optimizer*24", []int{58, 58}, nil},
	{"engine.py own 1 tensors", false, "steps 48", "train/optimizer*48", nil, nil},
	{"engine.py own 1 loader", false, "steps 48", "train/optimizer*48", []int{58, 58}, nil},
	{"engine.py own 2 tensors", false, "steps 24", "train/optimizer*24", nil, nil},
	{"engine.py own 2 loader", false, "steps 24", "train/optimizer*24", []int{58, 58}, nil},
}

// TestTrainers runs programs of Hugging Face's Trainer, Accelerate and DeepSpeed (BOTTLENECK_E2E=trainers), and of an engine
// of one's own: steps are those of the optimizer, evaluations are kept apart, loaders are where the user built them or called
// the trainer, and nothing else changes.
func TestTrainers(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, c := range trainerCases {
			t.Run(generation+"/"+c.command, func(t *testing.T) {
				testkit.Wide(t, c.command != "engine.py own 2 loader")
				if c.deps && generation != "trainers" {
					t.Skip("BOTTLENECK_E2E=trainers has it")
				}
				result, dir := withAgent(t, interpreter, Config{}, []string{"OMP_NUM_THREADS=1"}, strings.Fields(c.command)...)
				if result.status != 0 || !strings.HasSuffix(strings.TrimSpace(result.stdout), c.stdout) {
					t.Fatalf("%+v", result)
				}
				all := read(t, dir)
				noFailures(t, all)
				if len(all) == 0 {
					t.Fatal("nothing was written")
				}
				main := all[0]
				if got := stepKinds(main); got != c.steps {
					t.Errorf("steps %s\nwant  %s", got, c.steps)
				}
				if got, want := fmt.Sprint(loaderLines(t, main, strings.Fields(c.command)[0])), fmt.Sprint(c.loaders); got != want {
					t.Errorf("loaders of lines %s, want %s", got, want)
				}
				checkActions(t, main, c.actions)
			})
		}
	}
}

// TestAcceleratedRanks runs the same loop on two ranks under torchrun, which share the batches.
func TestAcceleratedRanks(t *testing.T) {
	if os.Getenv("BOTTLENECK_E2E") != "trainers" {
		t.Skip("BOTTLENECK_E2E=trainers has Accelerate")
	}
	result, dir := withAgent(t, python(t, "trainers"), Config{}, []string{"OMP_NUM_THREADS=1"},
		"-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "accelerated.py", "2")
	if result.status != 0 || result.stdout != "steps 12\n" {
		t.Fatalf("%+v", result)
	}
	all := read(t, dir)
	noFailures(t, all)
	ranks := role(all, "rank")
	if len(ranks) != 2 {
		t.Fatalf("%d ranks", len(ranks))
	}
	for _, w := range ranks {
		if got, want := stepKinds(w), "train/optimizer*6 validation/dataloader*3 train/optimizer*6 validation/dataloader*3"; got != want {
			t.Errorf("rank %v: steps %s, want %s", w.process["rank"], got, want)
		}
	}
}

// stepKinds lists a process's steps as "kind/source*count …".
func stepKinds(w written) string {
	var parts []string
	last, count := "", 0
	for _, row := range append(w.of("step"), []any{"", nil, "", ""}) {
		key := fmt.Sprintf("%v/%v", row[2], row[3])
		if key != last && count > 0 {
			parts = append(parts, fmt.Sprintf("%s*%d", last, count))
		}
		if key != last {
			last, count = key, 0
		}
		count++
	}
	return strings.Join(parts, " ")
}

// loaderLines gives the lines at which loaders were built, which must be the program's.
func loaderLines(t *testing.T, w written, program string) []int {
	t.Helper()
	var lines []int
	for _, row := range w.of("loader") {
		details := row[2].(map[string]any)
		file, _ := details["file"].(string)
		if filepath.Base(file) != program {
			t.Errorf("a loader was built at %v:%v", details["file"], details["line"])
			continue
		}
		if details["batch_size"] != 2.0 {
			t.Errorf("a loader's batches are of %v", details["batch_size"])
		}
		lines = append(lines, int(details["line"].(float64)))
	}
	return lines
}

// checkActions compares the counts of some actions.
func checkActions(t *testing.T, w written, want map[string]int) {
	t.Helper()
	for name, count := range want {
		got := 0.0
		for _, row := range w.of("count", "action_count:"+name) {
			got = row[2].(float64)
		}
		if int(got) != count {
			t.Errorf("%v times %s, want %d", got, name, count)
		}
	}
}
