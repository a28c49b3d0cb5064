package agent

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// only gives the one process of a role.
func only(t *testing.T, dir, name string) written {
	t.Helper()
	all := read(t, dir)
	noFailures(t, all)
	found := role(all, name)
	if len(found) != 1 {
		t.Fatalf("%d processes of role %s", len(found), name)
	}
	return found[0]
}

// steps counts the rows of steps by phase.
func steps(w written, kind string) map[string]int {
	count := map[string]int{}
	for _, row := range w.of("step", "", kind) {
		count[row[6].(string)]++
	}
	return count
}

// traces checks that each window's file is there and is a trace with events; returns the windows of steps and of slices.
func traces(t *testing.T, w written) (ofSteps, slices int) {
	t.Helper()
	for _, row := range w.of("window") {
		if row[10] != nil {
			t.Errorf("window with an error: %v", row)
			continue
		}
		text, err := os.ReadFile(filepath.Join(w.dir, row[9].(string)))
		if err != nil {
			t.Error(err)
			continue
		}
		var trace struct {
			TraceEvents []struct{ Name, Ph string } `json:"traceEvents"`
		}
		if err := json.Unmarshal(text, &trace); err != nil {
			t.Errorf("%s: %v", row[9], err)
		}
		operators := 0
		for _, event := range trace.TraceEvents {
			if event.Ph == "X" {
				operators++
			}
		}
		if operators == 0 {
			t.Errorf("%s holds nothing", row[9])
		}
		if row[6].(float64) >= 0 {
			ofSteps++
		} else {
			slices++
		}
	}
	left, _ := filepath.Glob(filepath.Join(w.dir, "*.part"))
	if len(left) > 0 {
		t.Errorf("unfinished files: %v", left)
	}
	return ofSteps, slices
}

// TestLongStepsRecordShapesSoon: a program of few long steps has shapes from the third window on, one of short steps from the fourth, and
// one whose steps are long by then only, too.
func TestLongStepsRecordShapesSoon(t *testing.T) {
	for _, generation := range generations() {
		for _, c := range []struct{ sleeps, third, fourth string }{
			{"0.12", "detail", "trace"}, {"0", "trace", "detail"},
			{"0.06 0.16", "trace", "detail"}, // long on the whole by the fourth window only
		} {
			t.Run(generation+"/"+c.sleeps, func(t *testing.T) {
				t.Parallel()
				arguments := append([]string{"loop.py", "30", "1"}, strings.Fields(c.sleeps)...)
				_, dir := withAgent(t, python(t, generation), Config{}, nil, arguments...)
				rows := only(t, dir, "main").of("window")
				for first, want := range map[float64]string{12: c.third, 24: c.fourth} {
					at := slices.IndexFunc(rows, func(row []any) bool { return row[6].(float64) == first })
					if at < 0 || rows[at][2] != want {
						t.Errorf("the window of step %v is no %s: %v", first, want, rows)
					}
				}
			})
		}
	}
}

// trainingWithWorkers measures epochs of training and validation whose batches two workers prepare.
func trainingWithWorkers(t *testing.T, interpreter string) {
	testkit.Wide(t, false)
	t.Parallel()
	result, dir := withAgent(t, interpreter, Config{}, nil, "train.py", "2")
	if result.status != 0 {
		t.Fatalf("%+v", result)
	}
	w := only(t, dir, "main")
	train := steps(w, "train")
	total := train["warmup"] + train["baseline"] + train["trace"] + train["detail"] + train["edge"]
	if total != 40 || train["warmup"] != 1 || train["trace"]+train["detail"] < 3 || train["baseline"] < 20 {
		t.Errorf("training steps %v", train)
	}
	if got := len(w.of("step", "", "validation")); got != 10 {
		t.Errorf("%d validation steps", got)
	}
	if windows, _ := traces(t, w); windows < 3 {
		t.Errorf("%d windows", windows)
	}
	if waits, loaders := len(w.of("wait")), len(w.of("loader")); waits != 50 || loaders != 2 {
		t.Errorf("%d waits, %d loaders", waits, loaders)
	}
	if saves := len(w.of("span", "io")); saves != 2 {
		t.Errorf("%d spans of torch.save", saves)
	}
	fetches := 0
	for _, worker := range role(read(t, dir), "worker") {
		fetches += len(worker.of("fetch"))
		if len(worker.of("loader")) != 1 {
			t.Errorf("a worker does not say whose it is: %v", worker.rows)
		}
	}
	if fetches != 50 {
		t.Errorf("%d batches fetched by workers", fetches)
	}
}

// manyBeforeSteps: a preparation of many small operators is not traced for as long as it lasts, and leaves its part of the budget to the
// steps that follow.
func manyBeforeSteps(t *testing.T, interpreter string) {
	_, dir := withAgent(t, interpreter, Config{}, nil, "prepares.py", "300000", "60")
	w := only(t, dir, "main")
	windows, slices := traces(t, w)
	if windows < 3 || slices < 3 {
		t.Errorf("%d windows of steps after %d slices", windows, slices)
	}
	began, ended, paused := math.Inf(1), 0.0, 0.0
	for i, row := range w.of("window") {
		if row[6].(float64) >= 0 {
			break
		}
		began, ended = min(began, row[3].(float64)), row[5].(float64)
		if i >= 4 { // the first ones have no limit
			paused += row[5].(float64) - row[4].(float64)
		}
	}
	if most := 0.08*(ended-began) + 0.3e9; paused > most {
		t.Errorf("slices stopped the program for %.2f of %.2f s, want at most %.2f", paused/1e9, (ended-began)/1e9, most/1e9)
	}
}

func TestWhatIsMeasured(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		t.Run(generation+"/training with workers", func(t *testing.T) { trainingWithWorkers(t, interpreter) })
		t.Run(generation+"/three steps", func(t *testing.T) {
			testkit.Wide(t, false)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{}, nil, "loop.py", "3")
			w := only(t, dir, "main")
			if got := steps(w, "train"); got["trace"] != 1 || got["warmup"] != 1 {
				t.Errorf("steps %v", got)
			}
			if windows, _ := traces(t, w); windows != 1 {
				t.Errorf("%d windows", windows)
			}
		})
		t.Run(generation+"/no steps", func(t *testing.T) {
			testkit.Wide(t, false)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{}, nil, "operators.py", "40")
			w := only(t, dir, "main")
			if _, slices := traces(t, w); slices < 1 {
				t.Errorf("nothing was traced")
			}
		})
		t.Run(generation+"/no steps, shapes", func(t *testing.T) {
			testkit.Wide(t, false)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{}, nil, "operators.py", "60000")
			w := only(t, dir, "main")
			traces(t, w)
			rows := w.of("window")
			if len(rows) < 4 {
				t.Fatalf("windows %v", rows)
			}
			for i, row := range rows {
				want := i%4 == 3
				if shapes := strings.Contains(content(t, filepath.Join(w.dir, row[9].(string))), `"Input Dims"`); shapes != want ||
					(row[2] == "detail") != want {
					t.Errorf("slice %d: shapes %v, %v", i, shapes, row)
				}
			}
		})
		t.Run(generation+"/no steps, many operators", func(t *testing.T) {
			testkit.Wide(t, true)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{EventBudget: 20_000}, nil, "operators.py", "60000")
			w := only(t, dir, "main")
			if len(w.of("note", "", "sliced")) != 1 {
				t.Error("tracing went on beyond its budget")
			}
			traces(t, w)
		})
		t.Run(generation+"/many operators before steps", func(t *testing.T) {
			testkit.Wide(t, false)
			t.Parallel()
			manyBeforeSteps(t, interpreter)
		})
		t.Run(generation+"/ended after some steps", func(t *testing.T) {
			testkit.Wide(t, false)
			t.Parallel()
			result, dir := withAgent(t, interpreter, Config{Steps: 50, StopAfter: true}, nil, "loop.py", "0")
			if result.status != 0 || result.stdout != "cleaned up\n" || result.stderr != "" {
				t.Errorf("%+v", result)
			}
			if got := len(only(t, dir, "main").of("step")); got != 50 {
				t.Errorf("%d steps", got)
			}
		})
		t.Run(generation+"/schedule", func(t *testing.T) {
			testkit.Wide(t, true)
			t.Parallel()
			plan := &Schedule{Wait: 1, WarmUp: 1, Active: 2, Repeat: 2, SkipFirst: 4}
			_, dir := withAgent(t, interpreter, Config{Schedule: plan, StepOn: []string{"train_step"}}, nil, "loop.py", "30")
			w := only(t, dir, "main")
			var traced []float64
			for _, row := range w.of("step") {
				if row[3] == "mark" && row[6] == "trace" {
					traced = append(traced, row[1].(float64))
				}
			}
			if len(traced) != 4 || traced[1] != traced[0]+1 || traced[2] != traced[0]+4 {
				t.Errorf("traced steps %v", traced)
			}
		})
		t.Run(generation+"/whole run", func(t *testing.T) {
			testkit.Wide(t, true)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{WholeRun: true}, nil, "loop.py", "50")
			w := only(t, dir, "main")
			if got := steps(w, "train"); got["trace"] < 48 {
				t.Errorf("steps %v", got)
			}
			traces(t, w)
		})
		t.Run(generation+"/torch's own table", func(t *testing.T) {
			testkit.Wide(t, true)
			t.Parallel()
			_, dir := withAgent(t, interpreter, Config{}, []string{"BNECK_DUMP_AVERAGES=1"}, "loop.py", "30")
			w := only(t, dir, "main")
			traces(t, w)
			tables, _ := filepath.Glob(filepath.Join(w.dir, "averages-*.json"))
			if len(tables) != len(w.of("window")) || len(tables) == 0 {
				t.Errorf("%d tables of %d windows", len(tables), len(w.of("window")))
			}
		})
	}
}

// TestWindowsWaitUntilTheyCostLittle looks at each window after the first four of a short run of many operators: what those before it cost
// the program is at most a tenth of a second and a fortieth of the time since the first step.
func TestWindowsWaitUntilTheyCostLittle(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			_, dir := withAgent(t, python(t, generation), Config{}, nil, "loop.py", "600", "100")
			w := only(t, dir, "main")
			windows, _ := traces(t, w)
			if windows < 4 {
				t.Errorf("%d windows", windows)
			}
			first, seen := w.of("step")[0][4].(float64), 0
			for _, window := range w.of("window") {
				began, spent := window[3].(float64), 0.0
				if window[6].(float64) < 0 {
					continue
				}
				if seen++; seen <= 4 {
					continue
				}
				for _, span := range w.of("span", "profiler") {
					if start := span[2].(float64); start >= first && start < began {
						spent += span[3].(float64) - start
					}
				}
				if spent > 0.1e9+0.025*(began-first) {
					t.Errorf("a window begins %.3f s after the first step, when those before had cost %.3f s", (began-first)/1e9, spent/1e9)
				}
			}
		})
	}
}

// TestProfilerRefuses has torch's profiler raise: the program runs to its end with every step marked, and the session says
// in torch's words why nothing more was traced.
func TestProfilerRefuses(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for what, verb := range map[string]string{"prepare": "start", "start": "start", "stop": "stop"} {
			t.Run(generation+"/"+what, func(t *testing.T) {
				testkit.Wide(t, what != "stop")
				t.Parallel()
				plain := startPlain(t, interpreter, "refused.py", what)
				agent, dir := withAgent(t, interpreter, Config{}, nil, "refused.py", what)
				same(t, plain, agent)
				main := role(read(t, dir), "main")
				if len(main) != 1 {
					t.Fatalf("%d main processes", len(main))
				}
				notes := main[0].of("note", "", "profiler-failed")
				if want := "torch's profiler did not " + verb + " (RuntimeError: Kineto is busy)"; len(notes) != 1 ||
					!strings.HasPrefix(notes[0][3].(string), want) {
					t.Errorf("notes %v, want %q", notes, want)
				}
				if got := len(main[0].of("step")); got < 40 {
					t.Errorf("%d steps were marked", got)
				}
				noHookFailed(t, main)
			})
		}
	}
}
