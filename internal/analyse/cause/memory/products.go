package memory

import (
	"regexp"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindProducts names products of all pairs that are written by broadcasting, and cosines of all pairs: the numbers of each pair make a
// table, which a product of matrices does without.
func FindProducts(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	p := &allProducts{}
	f, t, ok := sequenceAnywhere(c, p, finding.Finding{Cause: finding.MemoryBound, Sub: "products"}, spreads, price.AllProducts)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-products", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.products", wording.Time("time", t), c.Said(),
		wording.Count("pairs", p.most/p.width), wording.Count("width", p.width))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-products")}
	switch {
	case p.cosines && p.oneMany:
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-cosines-many")}
	case p.cosines:
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-cosines")}
	}
	return []finding.Draft{f}
}

// spreads matches a line that may multiply tensors which are spread along a dimension each.
var spreads = regexp.MustCompile(`cosine_similarity\(|CosineSimilarity\(|(?:None|unsqueeze\([^)]*\)).*\*.*(?:None|unsqueeze\()`)

// allProducts are a product, number by number, of tensors that are spread along one dimension each, and the sum of that along the last
// dimension; or their cosine, also of one with each of many.
type allProducts struct {
	pairs
	cosines, oneMany bool
}

const cosine = "aten::cosine_similarity"

func (p *allProducts) wants(name string) bool {
	return name == cosine || name == "aten::mul" || sums[name]
}

func (p *allProducts) next(op *outerOp) (whole []outerOp, counts float64) {
	made := p.made
	p.made = nil
	if op == nil || len(op.inside) == 0 {
		return nil, 0
	}
	in := &op.inside[0]
	switch {
	case op.name == "aten::mul", op.name == cosine && p.overLast(in):
		if op.name != cosine {
			p.shape = spread(in.shapes)
		}
		if p.shape == nil {
			return nil, 0
		}
		if p.made = []outerOp{*op}; op.name != cosine {
			return nil, 0
		}
		whole, p.made, p.cosines = p.made, nil, true
	case len(made) == 1 && sums[op.name] && p.lastOf(in, 1):
		whole = append(made, *op)
	default:
		return nil, 0
	}
	if n := arguments.Product(p.shape); n > p.most {
		p.most, p.width = n, p.shape[len(p.shape)-1]
	}
	return whole, 1
}

// overLast says that a cosine is of all pairs, or of one with many, and of the numbers along the last dimension.
func (p *allProducts) overLast(in *shapedOp) bool {
	if p.shape = spread(in.shapes); p.shape == nil {
		p.shape = withMany(in.shapes)
		p.oneMany = p.oneMany || p.shape != nil
	}
	return p.shape != nil && p.lastOf(&shapedOp{shapes: [][]int64{p.shape}, concrete: in.concrete}, 2)
}

// withMany is the shape of many rows that are compared with one, nil of others and of few.
func withMany(s [][]int64) []int64 {
	if len(s) < 2 || len(s[0]) == 0 || len(s[1]) == 0 {
		return nil
	}
	one, many := s[0], s[1]
	if len(one) > len(many) || arguments.Product(one) > arguments.Product(many) {
		one, many = many, one
	}
	width := many[len(many)-1]
	if arguments.Product(one) != width || one[len(one)-1] != width || width < 2 || arguments.Product(many) < price.PairsLeast ||
		arguments.Product(many) < price.ContractionSpread*width {
		return nil
	}
	return many
}
