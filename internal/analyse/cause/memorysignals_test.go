package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/testkit"
)

// Convolutions with a large window for each of few channels are named with their backward passes; not small windows, those that networks
// learn, nor those that mix channels.
func TestWindowsOfFilters(t *testing.T) {
	filter := func(shapes string) tracedOp {
		return tracedOp{50, "aten::conv2d", shapes, "", 7, []tracedOp{{50, "aten::convolution", shapes, "", 7, nil}}}
	}
	passes := tracedOp{20, "autograd::engine::evaluate_function: ConvolutionBackward0", "", "", 7, nil}
	rest := tracedOp{30, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		shapes string
		ms     float64 // that go
	}{
		"a Gaussian":          {"[[8, 3, 224, 224], [3, 1, 23, 23], []]", 70 * (1 - 5.0/23)},
		"of one picture":      {"[[3, 224, 224], [3, 1, 23, 23], []]", 70 * (1 - 5.0/23)},
		"not square":          {"[[8, 1, 224, 224], [1, 1, 15, 31], []]", 70 * (1 - 2.5*46/465)},
		"a small window":      {"[[8, 3, 224, 224], [3, 1, 7, 7], []]", 0},
		"one pass":            {"[[8, 3, 224, 224], [3, 1, 1, 23], []]", 0},
		"mixes channels":      {"[[8, 3, 224, 224], [3, 3, 23, 23], []]", 0},
		"a layer":             {"[[8, 64, 56, 56], [64, 1, 31, 31], []]", 0},
		"several per channel": {"[[8, 3, 224, 224], [9, 1, 23, 23], []]", 0},
		"no shapes":           {"", 0},
	} {
		for _, p := range []*testkit.Program{hots(filter(c.shapes), passes, rest), launched(filter(c.shapes), passes, rest)} {
			res, _ := find(t, p)
			named := len(res.Findings) > 0 && res.Findings[0].Sub == "separable"
			if named != (c.ms > 0) {
				t.Errorf("%s: %+v", name, res.Findings)
			} else if ms := res.Findings[0].Step.Mid / 1e6; named && (ms < 0.95*c.ms || ms > 1.05*c.ms) {
				t.Errorf("%s saves %v of %v ms", name, ms, c.ms)
			}
		}
	}
}

// Transforms whose length has a large prime factor are named with their backward passes, not with those of other operators that have their
// number; so are those whose length is an argument. Small prime factors, short ones, and what was recorded without its arguments are not.
func TestLengthsOfTransforms(t *testing.T) {
	op := func(outer, name, shapes, concrete string) tracedOp {
		return tracedOp{30, outer, shapes, concrete, 7, []tracedOp{{28, name, shapes, concrete, 7, nil}}}
	}
	real := func(shapes, concrete string) tracedOp {
		return op("aten::fft_rfft", "aten::_fft_r2c", shapes, concrete)
	}
	passes := tracedOp{30, "autograd::engine::evaluate_function: FftR2CBackward0", "", "", 7, nil}
	others := tracedOp{20, "autograd::engine::evaluate_function: MulBackward0", "", "", 7, nil}
	rest := tracedOp{20, "aten::relu", "[[64, 128]]", "[]", -1, nil}
	last := `["", "[1]", "0", "True"]`
	prime := real("[[4, 139999], [], [], []]", last)
	for name, c := range map[string]struct {
		op    tracedOp
		saves float64 // ms per step, 0: no finding
	}{
		"a prime":                 {prime, 60 * 0.68},
		"from the end":            {real("[[4, 139999], [], [], []]", `["", "[-1]", "0", "True"]`), 60 * 0.68},
		"an argument":             {op("aten::fft_irfft", "aten::_fft_c2r", "[[4, 70000], [], [], []]", `["", "[1]", "2", "139999"]`), 60 * 0.68},
		"a large prime factor":    {real("[[4, 39999], [], [], []]", last), 60 * 0.68},
		"one of two dimensions":   {real("[[3, 512, 509], [], [], []]", `["", "[1, 2]", "0", "True"]`), 30 * 0.68},
		"another dimension":       {real("[[139999, 4096], [], [], []]", last), 0},
		"small primes":            {real("[[4, 140000], [], [], []]", last), 0},
		"a small prime factor":    {real("[[4, 138600], [], [], []]", last), 0},
		"43 times a power of two": {real("[[4, 44032], [], [], []]", last), 0},
		"short":                   {real("[[40000, 97], [], [], []]", last), 0},
		"no shapes":               {real("", ""), 0},
		"no arguments":            {real("[[4, 139999], [], [], []]", ""), 0},
		"no such dimension":       {real("[[4, 139999], [], [], []]", `["", "[2]", "0", "True"]`), 0},
		"longer than memory":      {real("[[4, 4611686018427387847], [], [], []]", last), 0},
		"windows":                 {op("aten::stft", "aten::_fft_r2c", "[[4, 900, 401], [], [], []]", `["", "[2]", "0", "True"]`), 0},
	} {
		res, _ := find(t, hots(c.op, passes, others, rest))
		if c.saves > 0 {
			f := want(t, res, finding.MemoryBound, "fft-length", 12, c.saves)
			if f.Step.Low <= 0 || f.Step.High <= f.Step.Mid {
				t.Errorf("%s: %+v", name, f.Step)
			}
		} else if len(res.Findings) > 0 && res.Findings[0].Sub == "fft-length" {
			t.Errorf("%s: %s", name, res.Findings[0].Title)
		}
	}
	res, _ := find(t, launched(prime, passes, others, rest))
	if f := want(t, res, finding.MemoryBound, "fft-length", 12, 60*0.55); f.Step.High > 60e6*0.85 {
		t.Errorf("on a device %+v", f.Step)
	}
	res, _ = find(t, launched(real("[[4, 34344], [], [], []]", last), passes, others, rest)) // 53 times 648
	if len(res.Findings) > 0 && res.Findings[0].Sub == "fft-length" {
		t.Error(res.Findings[0].Title)
	}
	res, _ = find(t, hots(prime, passes, others, rest))
	f := want(t, res, finding.MemoryBound, "fft-length", 12, 60*0.68)
	said := f.Evidence[0].String() + f.Fix.Advice[0].String()
	if !strings.Contains(said, "139,999") || !strings.Contains(said, "n=140000") {
		t.Error(said)
	}
}
