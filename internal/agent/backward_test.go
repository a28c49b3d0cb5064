package agent

import "testing"

// TestNoWindowEndsWithinABackwardPass: PyTorch's engine gives a thread its state of before back after each function of a graph, a profiler
// that has ended meanwhile among it. A window that has lasted too long there ends behind it.
func TestNoWindowEndsWithinABackwardPass(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			plain := startPlain(t, interpreter, "slow_backward.py")
			agent, dir := withAgent(t, interpreter, Config{}, nil, "slow_backward.py")
			same(t, plain, agent)
			if windows, _ := traces(t, only(t, dir, "main")); windows == 0 {
				t.Error("no window of a step")
			}
		})
	}
}
