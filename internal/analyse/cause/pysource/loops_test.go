package pysource

import (
	"strings"
	"testing"
)

func TestOutermostLoop(t *testing.T) {
	source := strings.Split(`import torch
for seed in seeds:
    def train(model):
        """Learns.

        for x in y: no loop
        """
        rows = [
    f(x)
    for x in data
]
        with context():
            for epoch in range(3):
                for x in loader:
                    if x:
                        step(
                            x)
            done()
        while more(): step(x)
    train(1)
train(2)`, "\n")
	for line, want := range map[int32]int32{
		1: 0, 2: 2, 8: 0, 9: 0, 12: 0, 13: 13, 14: 13, 16: 13, 17: 13, 18: 0, 19: 19, 20: 2, 21: 0, 99: 0,
	} {
		if got := OutermostLoop(source, line); got != want {
			t.Errorf("line %d stands in the loop of line %d, not %d", line, got, want)
		}
	}
	if got := OutermostLoop(nil, 1); got != 0 {
		t.Errorf("nothing has a loop in line %d", got)
	}
}
