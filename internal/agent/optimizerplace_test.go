package agent

import (
	"path/filepath"
	"testing"
)

// TestOptimizersTellWhereTheyAreBuilt has a program build an optimizer: its line is told, once.
func TestOptimizersTellWhereTheyAreBuilt(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			plain := startPlain(t, interpreter, "writes.py")
			agent, dir := withAgent(t, interpreter, Config{}, nil, "writes.py")
			same(t, plain, agent)
			told := 0
			for _, row := range only(t, dir, "main").of("span", "other") {
				if row[5] != "Optimizer.__init__" {
					continue
				}
				if told++; filepath.Base(row[6].(string)) != "writes.py" || row[7] != 14.0 {
					t.Errorf("built at %v:%v, want writes.py:14", row[6], row[7])
				}
			}
			if told != 1 {
				t.Errorf("told %d times, want once", told)
			}
		})
	}
}
