package cause_test

import "testing"

// Products of spread tensors that are summed next are named, whatever is summed; not where a tensor is as large as the table, nothing is
// summed or something else reads the products.
func TestProductsThatAreSummed(t *testing.T) {
	first := tracedOp{20, "aten::mul", "[[32, 128, 1, 1], [1, 128, 128, 64]]", "", 7, nil}
	view := tracedOp{1, "aten::unsqueeze", "[[32, 1, 128], []]", "", -1, nil}
	second := tracedOp{20, "aten::mul", "[[32, 128, 128, 64], [32, 1, 128, 1]]", "", 8, nil}
	sum := func(dims string) tracedOp {
		return tracedOp{10, "aten::sum", "[[32, 128, 128, 64], [], []]", `["", "` + dims + `", "False"]`, 9, nil}
	}
	large := tracedOp{20, "aten::mul", "[[32, 128, 128, 64], [32, 128, 128, 1]]", "", 7, nil}
	relu := tracedOp{5, "aten::relu", "[[32, 128, 128, 64]]", "", 8, nil}
	rest := tracedOp{30, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"a bilinear form":      {[]tracedOp{first, view, second, sum("[1, 2]"), rest}, true},
		"a mixture":            {[]tracedOp{first, sum("[1]"), rest}, true},
		"all of it":            {[]tracedOp{first, {10, "aten::sum", "[[32, 128, 128, 64], []]", "", 9, nil}, rest}, true},
		"weights of a tensor":  {[]tracedOp{large, sum("[1]"), rest}, false},
		"nothing is summed":    {[]tracedOp{first, view, second, rest}, false},
		"read by others first": {[]tracedOp{first, relu, sum("[1]"), rest}, false},
		"another sum":          {[]tracedOp{first, {10, "aten::sum", "[[32, 128], [], []]", `["", "[1]", "False"]`, 9, nil}, rest}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		if named := len(res.Findings) > 0 && res.Findings[0].Sub == "contraction"; named != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}
