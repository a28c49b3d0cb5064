package agent

import "testing"

// TestRebuiltModels runs a program whose model is a new object in each call: its calls are the steps, as if it were one model.
func TestRebuiltModels(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			result, dir := withAgent(t, python(t, generation), Config{}, []string{"OMP_NUM_THREADS=1"}, "rebuilt.py")
			if result.status != 0 {
				t.Fatalf("%+v", result)
			}
			if steps := len(only(t, dir, "main").of("step")); steps != 11 { // the last call ends no step
				t.Errorf("%d steps, want one between two of the 12 calls", steps)
			}
		})
	}
}
