package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
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
	f := want(t, res, finding.Launch, "", 23, 0)
	if math.Abs(f.Share-45.0/95) > 0.05 {
		t.Errorf("share %.2f, want %.2f", f.Share, 45.0/95)
	}
}

// Collections while a loop over small operators is on the stack end with the loop; the driving function's are the collector's own.
func TestCollectionsOfALoopOfSmallOperators(t *testing.T) {
	for _, c := range []struct {
		stack []testkit.Frame
		share float64
	}{{[]testkit.Frame{module, loop(40), user("mine", 20, 23)}, 0.9}, {[]testkit.Frame{module, loop(40)}, 0.8}} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, testkit.Native(50, c.stack...), testkit.Python(30, c.stack...),
			testkit.Python(10, c.stack...).In(model.SpanGC), testkit.Native(10, module, loop(41)))
		tracedCalls(p, called{name: "aten::sub", n: 2500, us: 20}, called{name: "aten::convolution", n: 1, us: 10_000})
		res, _ := find(t, p)
		f := want(t, res, finding.Launch, "", c.stack[len(c.stack)-1].Line, 0)
		if math.Abs(f.Share-c.share) > 0.03 {
			t.Errorf("%v: share %.2f, want %.2f", c.stack, f.Share, c.share)
		}
	}
}
