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
	views, made []outerOp // views that lead to the next copy; copies with their views, that no attention has read so far
	numbers     []int64   // of each copy
	times       int64     // heads of queries for each one of keys, the most that was seen
	repeats     int64     // of the copies at hand
}

func (r *repeatedHeads) wants(name string) bool {
	return name == "aten::clone" || name == "aten::copy_" || name == attends || name == "aten::expand"
}

const attends = "aten::scaled_dot_product_attention"

func (r *repeatedHeads) next(op *outerOp) (whole []outerOp, counts float64) {
	switch {
	case op == nil:
		return nil, 0
	case op.name == attends:
		if r.shared(op) {
			whole, counts, r.times = r.made, 1, max(r.times, r.repeats)
		}
		r.views, r.made, r.numbers, r.repeats = nil, nil, nil, 0
	case op.name == "aten::expand", op.name == "aten::unsqueeze":
		r.views = append(r.views, *op)
	default:
		if times, numbers := repeated(op); times > 1 {
			r.made, r.numbers, r.repeats = append(append(r.made, r.views...), *op), append(r.numbers, numbers), times
		}
		if !passing.MatchString(op.name) {
			r.views = nil
		}
	}
	return whole, counts
}

// shared says that an attention reads copies as its keys and values.
func (r *repeatedHeads) shared(op *outerOp) bool {
	if len(op.inside) == 0 || len(op.inside[0].shapes) < 3 || len(r.numbers) == 0 {
		return false
	}
	read := op.inside[0].shapes
	return slices.Contains(r.numbers, arguments.Product(read[1])) && arguments.Product(read[1]) == arguments.Product(read[2])
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
