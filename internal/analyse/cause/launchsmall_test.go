package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Where traced steps ran slower than the others, what they say of small operators beside large ones is too little: a line whose samples
// in traced steps all lie in small operators has its whole time in them, and one whose samples lie in large ones none.
func TestLineOfSmallOperatorsHasItsWholeTime(t *testing.T) {
	p := testkit.NewProgram()
	mine, network := []testkit.Frame{module, loop(40), user("mine", 20, 23)}, []testkit.Frame{module, loop(41), user("forward", 30, 31)}
	p.Steps(40, model.PhaseBaseline, testkit.Native(30, mine...), testkit.Python(15, mine...), testkit.Native(50, network...))
	tracedActs(p, []testkit.Act{testkit.Native(40, mine...), testkit.Native(90, network...)},
		called{name: "aten::sub", n: 13_000, us: 2}, called{name: "aten::convolution", n: 1, us: 85_000})
	res, _ := find(t, p)
	f := want(t, res, cause.Launch, "", 23, 0)
	if math.Abs(f.Share-45.0/95) > 0.05 {
		t.Errorf("share %.2f, want %.2f", f.Share, 45.0/95)
	}
}
