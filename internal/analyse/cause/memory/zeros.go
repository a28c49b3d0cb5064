package memory

import (
	"maps"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindZeros names products with a matrix that is nearly all zeros, such as a graph's: one that holds only what is not zero multiplies as
// much. The first calls of models tell which matrices are so, traced steps with shapes their products.
func FindZeros(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	calls := map[[2]int64]int{}
	for i := range c.P.Asked {
		calls[c.P.Asked[i].Zeros]++
	}
	delete(calls, [2]int64{})
	maps.DeleteFunc(calls, func(_ [2]int64, n int) bool { return n < price.ZerosCalls })
	if len(calls) == 0 {
		return nil
	}
	z := &zeroProducts{matrices: calls}
	f, t, ok := sequenceDraft(c, z, finding.Finding{Cause: finding.MemoryBound, Sub: "zeros"}, productLine, price.Zeros)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-zeros", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.zeros", wording.Time("time", t), c.Said(),
		wording.Count("rows", z.found[0]), wording.Count("columns", z.found[1]))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-zeros")}
	if z.dropped {
		f.Title = wording.Say("memory.title-zeros-dropped", wording.Share("share", f.Share), c.Said())
		f.Evidence = []wording.Text{wording.Say("memory.zeros-dropped", wording.Time("time", t), c.Said(),
			wording.Count("rows", z.found[0]), wording.Count("columns", z.found[1]))}
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("memory.fix-zeros-dropped"))
	}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-zeros")}
	return []finding.Draft{f}
}

// zeroProducts are products of two matrices of which one has such a form, and dropouts of a matrix of such a form: these draw a random
// number for each zero, and take longer than the products.
type zeroProducts struct {
	matrices map[[2]int64]int
	found    [2]int64
	dropped  bool
}

func (z *zeroProducts) wants(name string) bool {
	return name == "aten::mm" || name == "aten::addmm" || name == "aten::dropout"
}

func (z *zeroProducts) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return nil, 0
	}
	for i := range op.inside {
		in := &op.inside[i]
		if in.name == "aten::dropout" {
			if len(in.shapes) > 0 && z.matrices[formOf(in.shapes[0])] > 0 {
				z.found, z.dropped = formOf(in.shapes[0]), true
				return []outerOp{*op}, 1
			}
			continue
		}
		first := finding.Btoi(in.name == "aten::addmm") // after what is added
		if len(in.shapes) < first+2 {
			continue
		}
		for _, shape := range in.shapes[first : first+2] {
			if form := formOf(shape); z.matrices[form] > 0 {
				z.found = form
				return []outerOp{*op}, 1
			}
		}
	}
	return nil, 0
}

// formOf is a matrix's rows and columns; {0, 0} of what is none.
func formOf(shape []int64) [2]int64 {
	if len(shape) != 2 {
		return [2]int64{}
	}
	return [2]int64{shape[0], shape[1]}
}
