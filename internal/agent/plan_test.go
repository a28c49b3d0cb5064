package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// TestScheduleIsTorchs compares which steps are recorded, and where cycles end, with torch.profiler.schedule.
func TestScheduleIsTorchs(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			got := start(t, python(t, generation), environment(), "schedules.py")
			lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
			if got.status != 0 || !strings.HasSuffix(lines[len(lines)-1], " combinations, 0 differ") {
				t.Errorf("%d\n%.2000s\n%.2000s", got.status, got.stdout, got.stderr)
			}
		})
	}
}

// tracedSteps are the numbers of the steps that each window of a process recorded, by the windows' own rows.
func tracedSteps(w written) [][2]float64 {
	var all [][2]float64
	for _, row := range w.of("window") {
		if file, _ := row[9].(string); file != "" {
			all = append(all, [2]float64{row[6].(float64), row[7].(float64)})
		}
	}
	return all
}

// TestCyclesAreTraces runs plans with several cycles: each is a trace of its own, of exactly the steps that torch would record.
func TestCyclesAreTraces(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.py")
	const text = "from torch.profiler import ProfilerAction as A\ndef plan(step):\n" +
		"    return {3: A.RECORD, 4: A.RECORD_AND_SAVE, 5: A.RECORD_AND_SAVE, 9: A.RECORD}.get(step, A.NONE)\n" +
		"def never(step):\n    return A.WARMUP if step == 3 else A.NONE\n" +
		"def broken(step):\n    return 1 / (5 - step) and A.NONE if step != 2 else A.RECORD_AND_SAVE\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plans := []struct {
		name   string
		config Config
		want   [][2]float64 // first step, and the one after the last
		note   string
	}{
		{"two cycles", Config{Schedule: &Schedule{Wait: 1, WarmUp: 1, Active: 2, Repeat: 2, SkipFirst: 4}},
			[][2]float64{{6, 8}, {10, 12}}, ""},
		{"no pause between cycles", Config{Schedule: &Schedule{Active: 3, Repeat: 2, SkipFirst: 3}}, [][2]float64{{3, 6}, {6, 9}}, ""},
		{"first wait skipped", Config{Schedule: &Schedule{Wait: 4, WarmUp: 1, Active: 1, Repeat: 2, SkipFirst: 2, SkipFirstWait: 1}},
			[][2]float64{{3, 4}, {9, 10}}, ""},
		{"by a function", Config{SchedulePy: own + ":plan"}, [][2]float64{{3, 5}, {5, 6}, {9, 10}}, ""},
		{"by a function that fails", Config{SchedulePy: own + ":broken"}, [][2]float64{{2, 3}}, "schedule-failed"},
		{"by a function that never records", Config{SchedulePy: own + ":never"}, nil, "schedule-empty"},
		{"beyond the program's end", Config{Schedule: &Schedule{SkipFirst: 500, Active: 1}}, nil, "schedule-empty"},
		{"by a function that is not there", Config{SchedulePy: own + ":none"}, nil, "schedule-failed"},
	}
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, p := range plans {
			t.Run(generation+"/"+p.name, func(t *testing.T) {
				testkit.Wide(t, p.name != "two cycles" && p.name != "by a function that fails")
				p.config.StepOn, p.config.OnTraceReady = []string{"train_step"}, true
				result, dir := withAgent(t, interpreter, p.config, nil, "loop.py", "20")
				if result.status != 0 || result.stdout != "cleaned up\n" || result.stderr != "" {
					t.Errorf("%+v", result)
				}
				w := role(read(t, dir), "main")[0]
				if got := tracedSteps(w); !slices.Equal(got, p.want) {
					t.Errorf("traced %v, want %v", got, p.want)
				}
				if p.note != "" && len(w.of("note", "", p.note)) != 1 {
					t.Errorf("no note %q: %v", p.note, w.of("note"))
				}
				announced(t, w, p.want)
			})
		}
	}
}

// announced checks what the agent tells the launcher of each finished trace.
func announced(t *testing.T, w written, want [][2]float64) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.dir, "trace-*.ready"))
	if len(paths) != len(want) {
		t.Errorf("%d traces announced, want %d", len(paths), len(want))
	}
	for _, path := range paths {
		var told struct {
			File  string
			Step  float64
			First float64 `json:"first_step"`
			Cycle int
		}
		text, _ := os.ReadFile(path)
		if err := json.Unmarshal(text, &told); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(w.dir, told.File)); err != nil {
			t.Error(err)
		}
		if told.Cycle >= len(want) || told.First != want[told.Cycle][0] || told.Step != want[told.Cycle][1] {
			t.Errorf("announced %s", text)
		}
	}
}
