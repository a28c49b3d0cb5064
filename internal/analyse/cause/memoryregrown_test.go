package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// appending is a concatenation of so many rows with the next ones, as traces show it.
func appending(rows, more int64, concrete string) tracedOp {
	return tracedOp{20, "aten::cat", fmt.Sprintf("[[[%d, 4096], [%d, 4096]], []]", rows, more), concrete, -1, nil}
}

// Concatenations that copy a growing tensor are named by the rows that were there; not where something reads it in between, whatever it
// takes it for, nor the first ones, tensors that do not grow, small ones, and what was recorded without arguments.
func TestRowsThatAreCopiedForEachFewMore(t *testing.T) {
	first := `["", "0"]`
	grows := func(between ...tracedOp) []tracedOp {
		var ops []tracedOp
		for rows := int64(64); rows <= 128; rows += 16 {
			ops = append(ops, appending(rows, 16, first))
			ops = append(ops, between...)
		}
		return ops
	}
	op := func(name, shapes string) tracedOp { return tracedOp{1, name, shapes, "[]", -1, nil} }
	ms := 20 * (80.0/96 + 96.0/112 + 112.0/128 + 128.0/144)
	product := func(name, shape string) []tracedOp {
		ops := grows(op(name, ""))
		for i := 1; i < len(ops); i += 2 {
			ops[i].shapes = strings.ReplaceAll(shape, "N", fmt.Sprint(64+16*(i/2+1)))
		}
		return ops
	}
	for name, c := range map[string]struct {
		ops []tracedOp
		ms  float64
	}{
		"grows":              {grows(), ms},
		"something else":     {grows(op("aten::argmax", "[[16, 4096], [], []]")), ms},
		"a view":             {product("aten::atleast_1d", "[[N, 4096], []]"), ms},
		"from the end":       {[]tracedOp{appending(64, 16, `["", "-2"]`), appending(80, 16, `["", "-2"]`)}, 20 * 80.0 / 96},
		"is read":            {product("aten::mm", "[[N, 4096], [4096, 4]]"), 0},
		"is read turned":     {product("aten::mm", "[[4, 4096], [4096, N]]"), 0},
		"is read repeatedly": {product("aten::mm", "[[2, N, 4096], [2, 4096, 4]]"), 0},
		"once":               {[]tracedOp{appending(64, 16, first)}, 0},
		"as many rows":       {[]tracedOp{appending(64, 16, first), appending(64, 16, first), appending(64, 16, first)}, 0},
		"halves":             {[]tracedOp{appending(64, 64, first), appending(128, 128, first), appending(256, 256, first)}, 0},
		"no arguments":       {[]tracedOp{appending(64, 16, ""), appending(80, 16, ""), appending(96, 16, "")}, 0},
		"another dimension":  {[]tracedOp{appending(64, 16, `["", "1"]`), appending(80, 16, `["", "1"]`)}, 0},
		"beyond 64 bits": {[]tracedOp{
			{20, "aten::cat", "[[[8589934591, 2147483648], [1, 2147483648]], []]", first, -1, nil},
			op("aten::mm", "[[4096, 4096], [4096, 4096]]"), appending(64, 16, first), appending(80, 16, first)}, 20 * 80.0 / 96},
		"no such dimension": {[]tracedOp{appending(64, 16, `["", "7"]`), appending(80, 16, `["", "7"]`)}, 0},
	} {
		left := 100 // ms of a step
		for _, o := range c.ops {
			left -= o.ms
		}
		ops := append(slices.Clone(c.ops), tracedOp{max(left, 0), "aten::mm", "[[64, 64], [64, 64]]", "[]", -1, nil})
		c.ms *= 100 / float64(100+max(-left, 0))
		for _, p := range []*testkit.Program{hots(ops...), launched(ops...)} {
			res, _ := find(t, p)
			i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "regrown" })
			if (i >= 0) != (c.ms > 0) {
				t.Errorf("%s: %+v", name, res.Findings)
			} else if i >= 0 {
				if got, want := res.Findings[i].Step.Mid/1e6, c.ms; got < 0.95*want || got > 1.05*want {
					t.Errorf("%s saves %v of %v ms", name, got, want)
				}
			}
		}
	}
}

// What a trainer gathers is placed where it is told why, with advice of its own.
func TestWhatATrainerGathersForItsMetrics(t *testing.T) {
	p := hots(appending(64, 16, `["", "0"]`), appending(80, 16, `["", "0"]`), appending(96, 16, `["", "0"]`))
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: []string{"a = 1", "t = Trainer(compute_metrics=f)"}}
	res, _ := find(t, p)
	f := want(t, res, finding.MemoryBound, "regrown", 2, 0)
	if said := f.Fix.Advice[0].String(); !strings.Contains(said, "preprocess_logits_for_metrics") {
		t.Error(said)
	}
}
