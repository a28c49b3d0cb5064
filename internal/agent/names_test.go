package agent

import (
	"strings"
	"testing"
)

// TestNamedFunctionsThatAreMissingAreSaid names functions that loop.py does not have, or does not call.
func TestNamedFunctionsThatAreMissingAreSaid(t *testing.T) {
	for _, generation := range generations() {
		c := Config{NoTrace: true, StepOn: []string{"train_stepp"}, RegionOn: []string{"train_step", "torch.nn:Lineer",
			"itertools:chain.from_iterable", "absent:f"}}
		_, dir := withAgent(t, python(t, generation), c, nil, "loop.py", "3")
		var said []string
		for _, row := range role(read(t, dir), "main")[0].of("note", "", "never-called") {
			said = append(said, row[3].(string))
		}
		got := strings.Join(said, "\n")
		for _, want := range []string{
			"--step-on train_stepp: the program has no such function; like it: train_step",
			"--region torch.nn:Lineer: the program has no such function; like it: torch.nn:Linear",
			"--region absent:f: the program has no such function",
			"--region itertools:chain.from_iterable: written in C",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not said:\n%s", generation, want, got)
			}
		}
		if strings.Contains(got, "--region train_step:") {
			t.Errorf("%s: a function that ran is said to be missing:\n%s", generation, got)
		}
	}
}
