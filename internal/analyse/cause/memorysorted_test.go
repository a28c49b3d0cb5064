package cause_test

import "testing"

// Tensors that are sorted as a whole are named where few places are taken next; not where more are, along another side, where anything
// else reads them or they are small.
func TestSortedOfWhichFewPlacesAreTaken(t *testing.T) {
	argsort := tracedOp{60, "aten::argsort", "[[200, 20000], [], []]", `["", "1", "True"]`, -1, nil}
	sort := tracedOp{60, "aten::sort", "[[200, 20000], [], [], []]", `["", "False", "-1", "True"]`, -1, nil}
	take := func(dim, to string) tracedOp {
		return tracedOp{1, "aten::slice", "[[200, 20000], [], [], [], []]", `["", "` + dim + `", "0", "` + to + `", "1"]`, -1, nil}
	}
	best := tracedOp{1, "aten::select", "[[200, 20000], [], []]", `["", "1", "0"]`, -1, nil}
	gather := tracedOp{4, "aten::gather", "[[200, 20000], [], [200, 20000]]", "", -1, nil}
	masks := tracedOp{4, "aten::masked_fill", "[[200, 20000], [200, 10], []]", "", -1, nil}
	rest := tracedOp{30, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	small := tracedOp{60, "aten::argsort", "[[20, 100], [], []]", `["", "1", "True"]`, -1, nil}
	ofSmall := tracedOp{1, "aten::slice", "[[20, 100], [], [], [], []]", `["", "1", "0", "5", "1"]`, -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"the ten best":       {[]tracedOp{masks, argsort, take("1", "10"), rest}, true},
		"twice":              {[]tracedOp{argsort, take("1", "10"), masks, argsort, take("-1", "10"), rest}, true},
		"values and places":  {[]tracedOp{sort, take("1", "10"), take("1", "10"), rest}, true},
		"the best":           {[]tracedOp{sort, best, rest}, true},
		"a half":             {[]tracedOp{argsort, take("1", "10000"), rest}, false},
		"of few rows":        {[]tracedOp{argsort, take("0", "10"), rest}, false},
		"read by others":     {[]tracedOp{argsort, masks, take("1", "10"), rest}, false},
		"nothing is taken":   {[]tracedOp{argsort, rest}, false},
		"small":              {[]tracedOp{small, ofSmall, rest}, false},
		"taken and all read": {[]tracedOp{argsort, take("1", "10"), gather}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		if named := len(res.Findings) > 0 && res.Findings[0].Sub == "sorted"; named != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}
