package memory

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindOneHots names matrices that are multiplied by one-hot vectors on the CPU: each product is one row of the matrix.
func FindOneHots(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	hots := &oneHots{}
	f, t, ok := sequenceDraft(c, hots, finding.Finding{Cause: finding.MemoryBound, Sub: "one-hot"}, makesOneHots, price.OneHot)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-one-hot", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.one-hot", wording.Time("time", t), c.Said(),
		wording.Count("rows", hots.rows), wording.Count("classes", hots.classes))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-one-hot")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-one-hot")}
	return []finding.Draft{f}
}

// makesOneHots matches the calls that make one-hot vectors.
var makesOneHots = regexp.MustCompile(`\bone_hot\(|\.scatter_\(`)

// oneHots are operators that make one-hot vectors, and a product that follows with nothing but conversions between: a product of other
// tensors of the same shape is none of them.
type oneHots struct {
	made          []outerOp // what makes the vectors, and conversions of them
	hot           []int64   // their shape; nil while there are zeros alone
	rows, classes int64     // of the most that are made at once
}

func (o *oneHots) wants(name string) bool { return name == "aten::scatter_" || products[name] }

func (o *oneHots) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		o.made = nil
		return nil, 0
	}
	hot, operands := []int64(nil), [][]int64(nil)
	for i := range op.inside {
		if in := &op.inside[i]; products[in.name] {
			operands = append(operands, in.shapes...)
		} else if oneEach(in.shapes) {
			hot = in.shapes[0]
		}
	}
	switch {
	case hot != nil && len(o.made) == 1 && o.hot == nil: // by hand: zeros, then a one in each row
		o.made, o.hot = append(o.made, *op), hot
	case hot != nil || zeros[op.name]:
		o.made, o.hot = []outerOp{*op}, hot
	case len(o.made) == 0:
	case o.hot != nil && multiplies(operands, o.hot):
		whole = append(o.made, *op)
		classes := o.hot[len(o.hot)-1]
		if rows := arguments.Product(o.hot) / classes; rows*classes > o.rows*o.classes {
			o.rows, o.classes = rows, classes
		}
		o.made = nil
		return whole, 1
	case o.hot != nil && conversions[op.name]:
		o.made = append(o.made, *op)
	default:
		o.made = nil
	}
	return nil, 0
}

// products multiply matrices.
var products = map[string]bool{"aten::mm": true, "aten::addmm": true, "aten::bmm": true, "aten::linear": true, "aten::matmul": true}

// zeros are what a one is written into each row of.
var zeros = map[string]bool{"aten::zeros": true, "aten::zeros_like": true, "aten::new_zeros": true, "aten::full": true, "aten::zero_": true}

// conversions are what stands between one-hot vectors and their product: of them, and of the matrix.
var conversions = map[string]bool{
	"aten::to": true, "aten::_to_copy": true, "aten::type_as": true, "aten::view": true, "aten::reshape": true, "aten::flatten": true,
	"aten::unsqueeze": true, "aten::squeeze": true, "aten::t": true, "aten::transpose": true, "aten::detach": true, "aten::contiguous": true,
}

// oneEach says that a scatter writes one value into each row: its index has one column.
func oneEach(s [][]int64) bool {
	if len(s) < 3 || len(s[0]) < 2 || len(s[2]) != len(s[0]) {
		return false
	}
	last := len(s[0]) - 1
	return s[2][last] == 1 && s[0][last] > 1 && slices.Equal(s[0][:last], s[2][:last])
}

// multiplies says that one of a product's operands has so many rows of so many classes.
func multiplies(operands [][]int64, hot []int64) bool {
	classes := hot[len(hot)-1]
	return slices.ContainsFunc(operands, func(s []int64) bool {
		return len(s) >= 2 && s[len(s)-1] == classes && arguments.Product(s) == arguments.Product(hot)
	})
}
