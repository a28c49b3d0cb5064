package memory

import (
	"regexp"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindRepeatedHeads names keys and values that are copied once for each head of queries which shares them, for an attention that can share
// them without copies.
func FindRepeatedHeads(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.OnDevice() || !facts.AtLeast(c.S.Environment.Torch, 2, 5) {
		return nil // on a CPU PyTorch makes the copies itself
	}
	r := &repeatedHeads{}
	f, t, ok := sequenceAnywhere(c, r, finding.Finding{Cause: finding.MemoryBound, Sub: "heads"}, repeatsHeads, price.RepeatedHeads)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-heads", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.heads", wording.Time("time", t), c.Said(), wording.Count("times", r.times))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-heads"), wording.Say("memory.fix-heads-rows")}
	return []finding.Draft{f}
}

// repeatsHeads matches a line that may repeat the heads of keys and values.
var repeatsHeads = regexp.MustCompile(`\.(?:expand|repeat_interleave|repeat)\(|\brepeat_interleave\(`)

// repeatedHeads are copies of tensors along a dimension in which they are the same all over, until an attention reads them.
type repeatedHeads struct {
	views []outerOp     // that lead to the next copy
	made  []repeatedOps // that no attention has read so far
	times int64         // heads of queries for each one of keys, the most that was seen
}

// repeatedOps are a copy with the views that lead to it, how many numbers it has and how often it has each.
type repeatedOps struct {
	ops            []outerOp
	numbers, times int64
}

func (r *repeatedHeads) wants(name string) bool {
	return name == "aten::clone" || name == "aten::copy_" || name == attends
}

const attends = "aten::scaled_dot_product_attention"

func (r *repeatedHeads) next(op *outerOp) (whole []outerOp, counts float64) {
	switch {
	case op == nil:
		return nil, 0
	case op.name == attends:
		for _, m := range r.made {
			if readsKeys(op, m.numbers) {
				whole, r.times = append(whole, m.ops...), max(r.times, m.times)
			}
		}
		r.views, r.made = nil, nil
	case op.name == "aten::expand", op.name == "aten::unsqueeze":
		r.views = append(r.views, *op)
	default:
		times, numbers := repeated(op)
		if times > 1 {
			r.made = append(r.made, repeatedOps{append(r.views, *op), numbers, times})
		}
		if times > 1 || !passing.MatchString(op.name) {
			r.views = nil
		}
	}
	return whole, 1
}

// readsKeys says that an attention's keys and values have so many numbers each.
func readsKeys(op *outerOp, numbers int64) bool {
	if len(op.inside) == 0 || len(op.inside[0].shapes) < 3 {
		return false
	}
	read := op.inside[0].shapes
	return arguments.Product(read[1]) == numbers && arguments.Product(read[2]) == numbers
}

// repeated is how often an operator copies the same numbers into a new tensor, and how many numbers that has; 0 where it copies none twice.
func repeated(op *outerOp) (times, numbers int64) {
	for i := range op.inside {
		in := &op.inside[i]
		from := 0
		if in.name == "aten::copy_" {
			from = 1
		} else if in.name != "aten::clone" {
			continue
		}
		if len(in.shapes) <= from || len(in.strides) <= from || len(in.shapes[from]) < 4 || len(in.shapes[from]) != len(in.strides[from]) {
			continue
		}
		for dim, stride := range in.strides[from] {
			if n := in.shapes[from][dim]; stride == 0 && n > 1 && n > times {
				times, numbers = n, arguments.Product(in.shapes[from])
			}
		}
	}
	if numbers < price.HeadsCopied {
		return 0, 0
	}
	return times, numbers
}
