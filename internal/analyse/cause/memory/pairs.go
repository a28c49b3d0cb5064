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

// FindPairs names squared distances of all pairs that are written by broadcasting: the differences make a table as wide as the points,
// which a product of matrices does without.
func FindPairs(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	p := &pairs{}
	f, t, ok := sequenceAnywhere(c, p, finding.Finding{Cause: finding.MemoryBound, Sub: "pairs"}, subtracts, price.Pairs)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-pairs", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.pairs", wording.Time("time", t), c.Said(),
		wording.Count("pairs", p.most/p.width), wording.Count("width", p.width))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-pairs")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-pairs")}
	return []finding.Draft{f}
}

// subtracts matches a line that may subtract tensors.
var subtracts = regexp.MustCompile(`[\w\])]\s*-\s*[\w(]`)

// pairs are a difference of tensors that are spread along one dimension each, its square, and the sum of that along the last dimension; or
// a difference and its norm.
type pairs struct {
	made        []outerOp
	shape       []int64 // of the differences
	most, width int64   // numbers in the largest table, and of a point there
}

func (p *pairs) wants(name string) bool {
	return name == "aten::sub" || squares[name] || sums[name] || norms[name]
}

// squares, sums and norms are what follows the differences. A product is one where both operands are the differences.
var (
	squares = map[string]bool{"aten::pow": true, "aten::square": true, "aten::mul": true}
	sums    = map[string]bool{"aten::sum": true, "aten::mean": true}
	norms   = map[string]bool{"aten::norm": true, "aten::linalg_vector_norm": true, "aten::linalg_norm": true}
)

func (p *pairs) next(op *outerOp) (whole []outerOp, counts float64) {
	made := p.made
	p.made = nil
	if op == nil || len(op.inside) == 0 {
		return nil, 0
	}
	in := &op.inside[0]
	if op.name == "aten::sub" {
		if shape := spread(in.shapes); shape != nil {
			p.made, p.shape = []outerOp{*op}, shape
		}
		return nil, 0
	}
	switch {
	case len(made) == 1 && squares[op.name] && p.squares(in):
		p.made = append(made, *op)
		return nil, 0
	case len(made) == 2 && sums[op.name] && p.lastOf(in, 1), len(made) == 1 && norms[op.name] && p.lastOf(in, 2):
		if n := arguments.Product(p.shape); n > p.most {
			p.most, p.width = n, p.shape[len(p.shape)-1]
		}
		return append(made, *op), 1
	}
	return nil, 0
}

// squares says that an operator squares the differences.
func (p *pairs) squares(in *shapedOp) bool {
	switch {
	case len(in.shapes) == 0 || !slices.Equal(in.shapes[0], p.shape):
		return false
	case in.name == "aten::mul":
		return len(in.shapes) > 1 && slices.Equal(in.shapes[1], p.shape)
	case in.name == "aten::pow":
		return len(in.concrete) < 2 || strings.TrimSuffix(strings.TrimSuffix(in.concrete[1], "0"), ".") == "2"
	}
	return true
}

// lastOf says that an operator takes the differences together along their last dimension, which is the argument with this number.
func (p *pairs) lastOf(in *shapedOp, argument int) bool {
	if len(in.shapes) == 0 || !slices.Equal(in.shapes[0], p.shape) {
		return false
	}
	if len(in.concrete) <= argument || in.concrete[argument] == "" {
		return len(in.concrete) == 0 // not recorded
	}
	return dimension(in.concrete[argument], p.shape) == len(p.shape)-1
}

// spread is the shape of a difference whose operands are each spread along a dimension of the other's, nil of others and of small ones.
func spread(s [][]int64) []int64 {
	if len(s) < 2 || len(s[0]) < 3 && len(s[1]) < 3 || len(s[0]) == 0 || len(s[1]) == 0 {
		return nil
	}
	n := max(len(s[0]), len(s[1]))
	out, first, second, all := make([]int64, n), false, false, int64(1)
	at := func(shape []int64, i int) int64 {
		if i -= n - len(shape); i >= 0 {
			return shape[i]
		}
		return 1
	}
	for i := range n {
		a, b := at(s[0], i), at(s[1], i)
		out[i] = max(a, b)
		all *= out[i]
		if i < n-1 {
			first, second = first || a == 1 && b > 1, second || b == 1 && a > 1
		} else if a != b {
			return nil // points of other widths
		}
	}
	if !first || !second || out[n-1] < 2 || all < price.PairsLeast {
		return nil
	}
	return out
}
