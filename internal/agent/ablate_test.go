package agent

import (
	"bottleneck/internal/testkit"
	"testing"
)

// TestAblations takes causes away: the program does the same number of steps, with a few batches or without what the collector looks at.
func TestAblations(t *testing.T) {
	testkit.Wide(t, false)
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for ablate, want := range map[string]string{"": "20 160 False\n", AblateInput: "20 32 False\n", AblateGC: "20 160 True\n"} {
			t.Run(generation+"/"+ablate, func(t *testing.T) {
				result, dir := withAgent(t, interpreter, Config{Ablate: ablate}, nil, "ablated.py")
				if result.status != 0 || result.stdout != want {
					t.Errorf("%+v, want %q", result, want)
				}
				if got := only(t, dir, "main").of("step"); len(got) == 0 {
					t.Error("no steps")
				}
			})
		}
	}
}
