package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
)

// What a request computes of a large tensor that none of its operators makes is named on a device, up to what reads something else as well;
// not where an operator may have made it or writes into it, in a training, or where it is only multiplied.
func TestTablesThatNoStepMakes(t *testing.T) {
	of := func(name, shapes string, ms int) tracedOp { return tracedOp{ms, name, shapes, "", -1, nil} }
	norm, least := of("aten::linalg_vector_norm", "[[50000, 128], [], []]", 20), of("aten::clamp_min", "[[50000, 1], []]", 1)
	divide := of("aten::div", "[[50000, 128], [50000, 128]]", 30)
	turn, scores := of("aten::numpy_T", "[[50000, 128]]", 0), of("aten::matmul", "[[16, 128], [128, 50000]]", 20)
	best, layer := of("aten::topk", "[[16, 50000], []]", 5), of("aten::linear", "[[16, 128], [128, 128]]", 24)
	scaled, passes := of("aten::mul", "[[16, 50000], []]", 10), of("autograd::engine::evaluate_function: MmBackward0", "", 9)
	square, sum := of("aten::pow", "[[50000, 128], []]", 30), of("aten::sum", "[[50000, 128], []]", 10)
	copied, written := of("aten::to", "[[50000, 128], []]", 5), of("aten::mul_", "[[50000, 128], []]", 5)
	looked, drawn := of("aten::embedding", "[[900, 128], [50000]]", 5), tracedOp{5, "aten::randn", "[[], []]", `["[50000, 128]", ""]`, -1, nil}
	passes.sequence = 7
	for name, c := range map[string]struct {
		ops   []tracedOp
		saves float64 // ms
	}{
		"normalised for each request":  {[]tracedOp{layer, norm, least, divide, turn, scores, best}, 51},
		"squared for distances":        {[]tracedOp{layer, square, sum, scores, scaled, best}, 40},
		"at the start":                 {[]tracedOp{norm, least, divide, turn, scores, best, layer}, 51},
		"copied from the host":         {[]tracedOp{layer, copied, norm, least, divide, turn, scores, best}, 0},
		"written into":                 {[]tracedOp{layer, norm, least, divide, turn, scores, written}, 0},
		"of looked-up rows":            {[]tracedOp{looked, norm, least, divide, scores}, 0},
		"drawn":                        {[]tracedOp{drawn, norm, least, divide, scores}, 0},
		"multiplied only":              {[]tracedOp{layer, turn, scores, scaled, best}, 0},
		"small":                        {[]tracedOp{layer, of("aten::linalg_vector_norm", "[[5000, 128], [], []]", 50), scores}, 0},
		"in a training":                {[]tracedOp{layer, norm, least, divide, turn, scores, best, passes}, 0},
		"not of what is computed next": {[]tracedOp{layer, norm, scores, of("aten::div", "[[50000, 128], [50000, 128]]", 36)}, 20},
	} {
		res, _ := find(t, launched(c.ops...))
		at := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "unmade" })
		if (at >= 0) != (c.saves > 0) {
			t.Errorf("%s: %+v", name, res.Findings)
		} else if at >= 0 && (res.Findings[at].Step.Mid < 0.9e6*c.saves || res.Findings[at].Step.Mid > 1.1e6*c.saves) {
			t.Errorf("%s: %+v of %v ms", name, res.Findings[at].Step, c.saves)
		}
	}
	res, _ := find(t, hots(layer, norm, least, divide, turn, scores, best))
	if slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "unmade" }) {
		t.Error("on a CPU a batch comes from anywhere")
	}
}
