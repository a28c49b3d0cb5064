package agent

import (
	"fmt"
	"strings"
	"testing"
)

// The parameters of each optimizer are counted at its second and sixteenth step, those of no model are not, and the program goes on as
// without the agent.
func TestParametersOfOptimizersAreCounted(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			plain := start(t, interpreter, environment(), "updates.py")
			got, dir := withAgent(t, interpreter, Config{}, nil, "updates.py")
			same(t, plain, got)
			var seen []string
			for _, row := range only(t, dir, "main").of("updates") {
				seen = append(seen, fmt.Sprint(row[2:]...))
			}
			// Number, parameters, steps, backward passes and optimizers so far.
			const want = "1 2 2 2 1,1 2 16 16 1,2 2 2 22 3,3 4 2 24 3,2 2 16 78 3,3 4 16 80 3,4 0 2 82 4,4 0 16 96 4"
			if got := strings.Join(seen, ","); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
