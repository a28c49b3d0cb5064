package code

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
)

func TestLoops(t *testing.T) {
	source := &model.Source{Lines: strings.Split(`def act(state):
    return policy(state)

while True:
    state = env.reset()
# a comment at the margin
    for t in range(
        100
    ):
        action = act(state)
        if t:

            state = env.step(
                action)
    learn()
	tabbed()
print()`, "\n")}
	for line, want := range map[int]int{1: 0, 2: 0, 5: 4, 7: 4, 10: 7, 13: 7, 14: 7, 15: 4, 17: 0, 18: 0, 0: 0} {
		if got := LoopAround(source, line); got != want {
			t.Errorf("around line %d: %d, want %d", line, got, want)
		}
	}
	for _, c := range []struct {
		loop, line int
		want       bool
	}{{4, 13, true}, {7, 13, true}, {7, 15, false}, {4, 15, true}, {4, 17, false}, {0, 17, false}, {7, 7, false}} {
		if got := InLoop(source, c.loop, c.line); got != c.want {
			t.Errorf("line %d in the loop of %d: %v", c.line, c.loop, got)
		}
	}
	if LoopAround(nil, 3) != 0 {
		t.Error("a loop without a source")
	}
}
