package agent

import (
	"fmt"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// use is the resident memory of a process after so many steps, in KiB; peak: since its start.
type use struct{ steps, now, peak int }

// memory runs testdata/memory.py and gives what it printed.
func memory(t *testing.T, result outcome) []use {
	t.Helper()
	if result.status != 0 {
		t.Fatalf("%+v", result)
	}
	var all []use
	for line := range strings.Lines(result.stdout) {
		var u use
		if _, err := fmt.Sscan(line, &u.steps, &u.now, &u.peak); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, u)
	}
	return all
}

// TestMemoryDoesNotGrowWithCycles traces 100 windows and compares the program's memory after the tenth and after the last.
func TestMemoryDoesNotGrowWithCycles(t *testing.T) {
	const cycles, most = 100, 4 << 10 // KiB; some 0.3 MB is seen, the rows of 90 windows and the allocator's own
	testkit.Wide(t, true)
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			interpreter := python(t, generation)
			config := Config{Schedule: &Schedule{Wait: 1, Active: 1, Repeat: cycles}}
			result, dir := withAgent(t, interpreter, config, []string{"OMP_NUM_THREADS=1"}, "memory.py", "12", "20", "200", "220")
			got := memory(t, result)
			if windows := len(only(t, dir, "main").of("window")); windows != cycles {
				t.Errorf("%d windows", windows)
			}
			grown := got[2].now - got[0].now
			t.Logf("%d KiB more after %d windows than after 10, peak %d MiB", grown, cycles, got[2].peak>>10)
			if grown > most {
				t.Errorf("the program has grown by %d KiB in 90 windows: %v", grown, got)
			}
		})
	}
}

// TestMemoryWithDefaultBudget compares the peaks of a program with and without the agent. Its steps make so many events that
// the windows are as long as they get.
func TestMemoryWithDefaultBudget(t *testing.T) {
	testkit.Wide(t, true)
	const most = 100 << 10 // KiB
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			interpreter := python(t, generation)
			arguments := []string{"memory.py", "100", "130"}
			plain := memory(t, start(t, interpreter, environment("OMP_NUM_THREADS=1"), arguments...))
			result, dir := withAgent(t, interpreter, Config{}, []string{"OMP_NUM_THREADS=1"}, arguments...)
			got := memory(t, result)
			events := 0.0
			for _, row := range only(t, dir, "main").of("window") {
				events = max(events, row[8].(float64))
			}
			added := got[0].peak - plain[0].peak
			t.Logf("peak %d MiB, %d more than without the agent; %.0f events in the largest window", got[0].peak>>10, added>>10, events)
			if added > most || events < 3000 {
				t.Errorf("peak %d KiB, without the agent %d; %.0f events", got[0].peak, plain[0].peak, events)
			}
		})
	}
}

// TestMemoryOfEndlessSteps compares the peaks of a program that, in the middle of a traced step, makes some million events: it calls
// functions, with stacks, or operators. For each torch needs 2 KB while it stops, and 18 KB where it writes the whole stack beside it.
func TestMemoryOfEndlessSteps(t *testing.T) {
	testkit.Wide(t, true)
	for _, generation := range generations() {
		interpreter := python(t, generation)
		plain := memory(t, start(t, interpreter, environment("OMP_NUM_THREADS=1"), "memory_endless.py", "operators"))
		for what, most := range map[string]int{ // KiB; 220 to 510 and 65 to 130 MB are seen
			"functions": 700 << 10, "operators": 300 << 10, "operators there": 300 << 10, "operators steps": 400 << 10,
		} {
			t.Run(generation+"/"+what, func(t *testing.T) {
				if strings.HasSuffix(what, "there") && generation != "newest" {
					t.Skip("no other thread can be asked before Python 3.12")
				}
				arguments := append([]string{"memory_endless.py"}, strings.Fields(what)...)
				config := Config{WithStack: what == "functions"}
				result, dir := withAgent(t, interpreter, config, []string{"OMP_NUM_THREADS=1"}, arguments...)
				got := memory(t, result)
				p := only(t, dir, "main")
				windows, cut := p.of("window"), false
				for _, span := range p.of("span") {
					cut = cut || span[1] == "profiler" && span[8] == "cut"
				}
				last := windows[len(windows)-1]
				added := got[0].peak - plain[0].peak
				t.Logf("peak %d MiB, %d more than without the agent; %.0f events in %.3f s", got[0].peak>>10, added>>10,
					last[8].(float64), (last[4].(float64)-last[3].(float64))/1e9)
				if added > most || !cut {
					t.Errorf("peak %d KiB, without the agent %d; windows %v", got[0].peak, plain[0].peak, windows)
				}
			})
		}
	}
}
