package agent

import (
	"runtime"
	"testing"
)

// Whether steps meet denormal numbers is told by the processor, and how many by the numbers that a model and its parts are given; the
// program computes what it computes without the agent.
func TestDenormalNumbersAreMet(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the register is the x86 family's")
	}
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			for _, c := range []struct {
				size, first string
				share       float64 // of the looks that meet such numbers
				found       float64 // of the 4,096 numbers that are read of 9,009
			}{{"1e-41", "1", 1, 4096}, {"1", "1", 0, 0}, {"1", "1e-41", 1, 1}} {
				plain := start(t, interpreter, environment(), "denormals.py", c.size, c.first)
				got, dir := withAgent(t, interpreter, Config{}, nil, "denormals.py", c.size, c.first)
				same(t, plain, got)
				share := c.share
				w := only(t, dir, "main")
				counters := w.process["counters"].(map[string]any)
				looks, _ := counters["denormal_looks"].(float64)
				met, _ := counters["denormal_met"].(float64)
				if looks < 6 || met < share*(looks-1) || met > share*looks { // after the last step next to nothing is computed
					t.Errorf("%+v: met at %v of %v looks", c, met, looks)
				}
				classes := map[string]int{}
				for _, row := range w.of("denormal") {
					if classes[row[2].(string)]++; row[4] != 15.0 || row[5] != 9009.0 || row[6] != 4096.0 || row[7] != c.found {
						t.Errorf("row %v", row)
					}
				}
				if len(w.of("asked")) == 0 {
					share = 0 // calls of models are not watched, as where optimizers load Dynamo
				}
				if n := classes["Sequential"]; n != classes["Linear"] || n > 4 || n < int(2*share) {
					t.Errorf("%+v: counted in %v", c, classes)
				}
			}
		})
	}
}
