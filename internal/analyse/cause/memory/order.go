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

// FindProductOrder names two products of matrices in a row, with nothing but views and numbers between them, that take far fewer
// multiplications in the other order: (A B) C is A (B C).
func FindProductOrder(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	o := &productOrder{}
	f, t, ok := sequenceDraft(c, o, finding.Finding{Cause: finding.MemoryBound, Sub: "order"}, productLine, price.ProductOrder)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-order", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.order", wording.Time("time", t), c.Said(),
		wording.Count("rows", o.rows), wording.Count("columns", o.columns), wording.Share("left", 1-o.gone))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-order")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-order")}
	return []finding.Draft{f}
}

// productLine matches a line that may multiply matrices.
var productLine = regexp.MustCompile(`@|\b(?:mm|bmm|matmul|einsum|baddbmm|linear|mv|dot)\(`)

// productOrder is a product of matrices whose result goes into another product next.
type productOrder struct {
	made          []outerOp
	left, right   []int64 // shapes of the first product's operands
	most          int64   // numbers in the largest result between
	rows, columns int64   // of it
	gone          float64 // of the multiplications there, in the other order
}

func (o *productOrder) wants(name string) bool { return innerProducts[name] || scales[name] }

var (
	innerProducts = map[string]bool{"aten::mm": true, "aten::bmm": true}
	// scales leave the order of products free where they take a number.
	scales = map[string]bool{"aten::mul": true, "aten::div": true}
	// passing are operators that change nothing of what a product gave.
	passing = regexp.MustCompile(`^aten::(?:view|reshape|_unsafe_view|_reshape_alias|permute|transpose|t|expand|unsqueeze|squeeze|contiguous|` +
		`clone|as_strided|flatten|unflatten|movedim|select|slice|narrow|unbind|split|chunk)$`)
)

func (o *productOrder) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		o.made = nil
		return nil, 0
	}
	at, several := -1, false
	for i := range op.inside {
		if innerProducts[op.inside[i].name] {
			at, several = i, at >= 0
		}
	}
	if at < 0 {
		if !passing.MatchString(op.name) && !scaled(op) {
			o.made = nil
		}
		return nil, 0
	}
	in := op.inside[at].shapes
	made := o.made
	o.made = nil
	if several || len(in) < 2 || len(in[0]) < 2 || len(in[0]) != len(in[1]) {
		return nil, 0
	}
	if len(made) > 0 {
		if counts = o.saves(in[0], in[1]); counts >= price.OrderLeast {
			return append(made, *op), counts
		}
	}
	o.made, o.left, o.right = []outerOp{*op}, in[0], in[1]
	return nil, 0
}

// scaled says that an operator productLine by a number.
func scaled(op *outerOp) bool {
	return slices.ContainsFunc(op.inside, func(in shapedOp) bool {
		return in.name == op.name && scales[in.name] && len(in.shapes) > 1 && arguments.Product(in.shapes[1]) <= 1
	})
}

// saves is the share of the multiplications of both products that the other order does without, where the first one's result is an operand
// of a product of left and right; 0 else.
func (o *productOrder) saves(left, right []int64) float64 {
	n := len(left)
	result := append(slices.Clone(o.left[:len(o.left)-1]), o.right[len(o.right)-1])
	rows, inner, columns := float64(o.left[len(o.left)-2]), float64(o.left[len(o.left)-1]), float64(o.right[len(o.right)-1])
	var now, other float64
	switch {
	case slices.Equal(left, result): // (A B) C
		end := float64(right[n-1])
		now, other = rows*columns*(inner+end), inner*end*(columns+rows)
	case slices.Equal(right, result): // C (A B)
		begin := float64(left[n-2])
		now, other = rows*columns*(inner+begin), begin*inner*(rows+columns)
	}
	if now <= 0 || other >= now {
		return 0
	}
	if size := arguments.Product(result); size > o.most && 1-other/now >= price.OrderLeast {
		o.most, o.rows, o.columns, o.gone = size, int64(rows), int64(columns), 1-other/now
	}
	return 1 - other/now
}
