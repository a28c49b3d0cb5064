package memory

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindContraction names products of tensors that are spread over more dimensions than any of them has, and summed over some of these next:
// a bilinear form or a mixture, written by broadcasting. FindProducts names those of all pairs.
func FindContraction(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	k := &contraction{}
	f, t, ok := sequenceAnywhere(c, k, finding.Finding{Cause: finding.MemoryBound, Sub: "contraction"}, sumsProducts, price.Contraction)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-contraction", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.contraction", wording.Time("time", t), c.Said(),
		wording.Count("numbers", k.most), wording.Count("times", k.most/k.largest))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-contraction")}
	return []finding.Draft{f}
}

// sumsProducts matches a line that may multiply tensors and sum what comes of it.
var sumsProducts = regexp.MustCompile(`\*.*\bsum\(|\bsum\(.*\*`)

// contraction is products, one of the other, that make a table much larger than what is multiplied, and the sum of it next.
type contraction struct {
	made          []outerOp
	shape         []int64 // of the table
	ofPairs       bool    // the first product is of all pairs
	operand       int64   // numbers in the largest tensor that is multiplied
	most, largest int64   // numbers in the largest table, and in the largest tensor there
}

func (k *contraction) wants(name string) bool { return name == "aten::mul" || sums[name] }

func (k *contraction) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		k.made = nil
		return nil, 0
	}
	if k.made != nil && passing.MatchString(op.name) {
		return nil, 0 // a view of what is multiplied next
	}
	made := k.made
	k.made = nil
	if len(op.inside) == 0 || len(op.inside[0].shapes) == 0 {
		return nil, 0
	}
	in := &op.inside[0]
	if op.name == "aten::mul" {
		k.multiplied(op, in.shapes, made)
		return nil, 0
	}
	if made == nil || !sums[op.name] || !slices.Equal(in.shapes[0], k.shape) || !k.sumsMost(in) {
		return nil, 0
	}
	if last := (pairs{shape: k.shape}); k.ofPairs && len(made) == 1 && last.lastOf(in, 1) {
		return nil, 0 // FindProducts knows more of it
	}
	if n := arguments.Product(k.shape); n > k.most {
		k.most, k.largest = n, k.operand
	}
	return append(made, *op), 1
}

// multiplied takes a product, which may go on with the table that those before it made.
func (k *contraction) multiplied(op *outerOp, shapes [][]int64, made []outerOp) {
	if len(shapes) < 2 {
		return
	}
	if made != nil {
		for i, one := range shapes[:2] {
			other := shapes[1-i]
			if slices.Equal(one, k.shape) && slices.Equal(broadcast(one, other), k.shape) && k.spreads(other) {
				k.made, k.operand = append(made, *op), max(k.operand, arguments.Product(other))
				return
			}
		}
	}
	k.shape = broadcast(shapes[0], shapes[1])
	if arguments.Product(k.shape) >= price.PairsLeast && k.spreads(shapes[0]) && k.spreads(shapes[1]) {
		k.made, k.operand = []outerOp{*op}, max(arguments.Product(shapes[0]), arguments.Product(shapes[1]))
		k.ofPairs = spread(shapes) != nil
	}
}

// spreads says that a tensor is spread over the table, which is several times larger.
func (k *contraction) spreads(shape []int64) bool {
	return len(shape) > 0 && price.ContractionSpread*arguments.Product(shape) <= arguments.Product(k.shape)
}

// sumsMost says that a sum leaves few of the table's numbers.
func (k *contraction) sumsMost(in *shapedOp) bool {
	if len(in.concrete) < 2 || strings.Trim(in.concrete[1], "[] ") == "" {
		return in.name == "aten::sum" // of all
	}
	summed := lengthsAlong(in.concrete[1], k.shape)
	return summed != nil && arguments.Product(summed) >= price.ContractionSpread
}

// broadcast is the shape of what two tensors give number by number; nil where they do not fit each other.
func broadcast(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i := range b {
		switch at := len(a) - len(b) + i; {
		case out[at] == 1:
			out[at] = b[i]
		case b[i] != 1 && b[i] != out[at]:
			return nil
		}
	}
	return out
}
