package agent

import (
	"testing"

	"bottleneck/internal/testkit"
)

// TestWorkOfOtherThreads runs a model on a thread while the main thread waits for it: its operators are traced, whatever the
// main thread waits by.
func TestWorkOfOtherThreads(t *testing.T) {
	for _, generation := range generations() {
		for _, how := range []string{"join", "event", "future", "poll"} {
			t.Run(generation+"/"+how, func(t *testing.T) {
				testkit.Wide(t, how != "join")
				result, dir := withAgent(t, python(t, generation), Config{}, []string{"OMP_NUM_THREADS=1"}, "waiting.py", how)
				if result.status != 0 {
					t.Fatalf("%+v", result)
				}
				main, traced := only(t, dir, "main"), 0
				for _, row := range main.of("window") {
					if row[6].(float64) >= 0 && row[8].(float64) > 0 {
						traced++
					}
				}
				if steps := len(main.of("step")); steps < 90 || traced < 2 {
					t.Errorf("%d steps of 100, %d windows with operators of them: %v", steps, traced, main.of("window"))
				}
			})
		}
	}
}
