package cause

import (
	"math"
	"testing"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A fetch in the step's own process is priced by a replay in which the hot function's time has gone; a session of several ranks
// keeps the rule's price.
func TestInputIsPricedByReplay(t *testing.T) {
	for _, world := range []int{1, 2} {
		p := testkit.NewProgram()
		p.P.WorldSize = world
		loop := testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
		augment := testkit.Frame{File: "/app/data.py", Function: "augment", First: 10, Line: 15}
		p.Steps(20, model.PhaseBaseline, testkit.Python(60, loop, augment).In(model.SpanDataWait), testkit.Native(40, loop))
		account := analyse.StepBreakdown(p.S, p.P)
		c := NewContext(p.S, account)
		found := findInput(c)
		if len(found) != 1 || found[0].ask == nil {
			t.Fatalf("findings %+v, want one that asks a replay", found)
		}
		rule := found[0].Step.Mid
		found[0].Step.Mid = 1e6 // to see who sets it
		found = PriceInput(found, c, replay.NewSession(p.S, account))
		want := 0.93 * 60e6
		if world > 1 {
			want = 1e6
		}
		if len(found) != 1 {
			t.Fatalf("world of %d: %d findings are left, want 1", world, len(found))
		}
		if got := found[0].Step.Mid; math.Abs(got-want) > 0.05*want {
			t.Errorf("world of %d: %.1f ms a step, want %.1f (the rule says %.1f)", world, got/1e6, want/1e6, rule/1e6)
		}
	}
}
