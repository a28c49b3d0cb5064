package memory

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindFewRows names tensors that are copied, converted, put in another order or made from an array as a whole, after which few of their
// rows are taken, as where a replay buffer becomes a tensor for each batch that is drawn from it.
func FindFewRows(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	r := &fewRows{}
	f, t, ok := sequenceDraft(c, r, finding.Finding{Cause: finding.MemoryBound, Sub: "few-rows"}, copiesOrOrders, price.CopiedRows)
	if !ok {
		return nil
	}
	if sp, ok := copyingLine(c); ok && c.PerStep(sp.Line) > t { // what is copied may have grown since it was traced
		t = c.PerStep(sp.Line)
		f.Where, f.Share = c.Where(sp), c.Share(sp.Line)
		f.Claim.Parts[account.PartOps] = sp.Line
		f.Step = f.By(price.CopiedRows).Times(t)
		f.Step.High = min(f.Step.High, c.PerStep(c.B.Total))
		f.Run = c.OverRun(f.Step)
	}
	f.Title = wording.Say("memory.title-few-rows", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.few-rows", wording.Time("time", t), c.Said(),
		wording.Count("rows", r.rows), wording.Count("taken", r.taken))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-few-rows")}
	return []finding.Draft{f}
}

// copyingLine is the user's line with most time in operators, of those that copy and take rows of the copy at once.
func copyingLine(c *facts.Facts) (facts.Spot, bool) {
	ops := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps })
	lines := facts.LineTimes(slices.DeleteFunc(ops, func(ch facts.Chain) bool {
		n := len(ch.Frames)
		return n == 0 || !takesOfCopy.MatchString(c.Source(c.Text(ch.Frames[n-1].File), int(ch.Frames[n-1].Line)))
	}))
	if len(lines) == 0 {
		return facts.Spot{}, false
	}
	return lines[0], true
}

// takesOfCopy matches a line that takes rows of what it has just copied.
var takesOfCopy = regexp.MustCompile(copies.String() + `.*\)\s*(?:\[|\.index_select\()`)

// copies matches a line that may make or copy a tensor.
var copies = regexp.MustCompile(`\b(?:tensor|as_tensor|Tensor|FloatTensor|stack|to|float|double|half|long|clone|contiguous|copy)\(`)

// copiesOrOrders matches such a line, or one that takes of what it has just taken.
var copiesOrOrders = regexp.MustCompile(copies.String() + `|\]\s*\[|\bcat\(`)

// fewRows are a copy of a tensor and what takes few of its rows, with nothing else that reads as large a tensor before the next such copy.
type fewRows struct {
	made        []rowsCopy // of each shape the last, in their order
	rows, taken int64      // of the largest copy
}

// rowsCopy is a copy, and how many of its rows were taken since.
type rowsCopy struct {
	op    outerOp
	shape []int64
	taken int64
	other bool // something else may have read it
}

var (
	copying = map[string]bool{"aten::to": true, "aten::clone": true, "aten::contiguous": true, "aten::_to_copy": true, "aten::copy_": true}
	taking  = map[string]bool{"aten::index": true, "aten::index_select": true, "aten::slice": true, "aten::select": true}
	joining = map[string]bool{"aten::cat": true, "aten::stack": true}
	// renaming operators read no numbers.
	renaming = map[string]bool{"aten::detach": true, "aten::detach_": true, "detach": true, "detach_": true, "aten::lift_fresh": true,
		"aten::alias": true, "aten::lift": true, "aten::set_": true, "aten::resize_": true, "aten::empty_strided": true}
)

func (r *fewRows) wants(name string) bool {
	return copying[name] || taking[name] || joining[name] || name == "aten::as_strided" || len(r.made) > 0 && !renaming[name]
}

func (r *fewRows) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		for len(r.made) > 0 && whole == nil {
			last := r.made[0]
			r.made = r.made[1:]
			// What was copied last may be read in steps that were not traced.
			if slices.ContainsFunc(r.made, func(m rowsCopy) bool { return slices.Equal(m.shape[1:], last.shape[1:]) }) {
				whole, counts = r.over(&last)
			}
		}
		return whole, counts
	}
	if len(op.inside) == 0 || renaming[op.name] {
		return nil, 0
	}
	shape := copied(op)
	if shape != nil {
		at := slices.IndexFunc(r.made, func(m rowsCopy) bool { return slices.Equal(m.shape, shape) })
		if at < 0 && len(r.made) == mostShapes {
			at = 0 // what grows has another shape each time
		}
		if at >= 0 {
			before := r.made[at]
			r.made = slices.Delete(r.made, at, at+1)
			whole, counts = r.over(&before)
		}
	}
	r.read(op)
	if shape != nil {
		r.made = append(r.made, rowsCopy{op: *op, shape: shape})
	}
	return whole, counts
}

// read notes what an operator reads of the copies.
func (r *fewRows) read(op *outerOp) {
	in := &op.inside[0]
	for i := range r.made {
		m := &r.made[i]
		switch reads := slices.ContainsFunc(in.shapes, func(s []int64) bool { return slices.Equal(s, m.shape) }); {
		case !reads:
		case taking[op.name] && slices.Equal(in.shapes[0], m.shape):
			n := rowsTaken(op)
			m.taken, m.other = m.taken+n, m.other || n == 0
		default:
			m.other = true
		}
	}
}

// mostShapes bounds the shapes that are followed at a time.
const mostShapes = 8

// over takes a copy that nothing can read any more.
func (r *fewRows) over(m *rowsCopy) (whole []outerOp, counts float64) {
	share := float64(m.taken) / float64(m.shape[0])
	if m.other || m.taken == 0 || share > price.RowsTaken {
		return nil, 0
	}
	if m.shape[0] > r.rows {
		r.rows, r.taken = m.shape[0], m.taken
	}
	return []outerOp{m.op}, 1 - share
}

// copied is the shape of what an operator copies as a whole, or of the rows that it puts into a new tensor; nil where it copies nothing or
// little.
func copied(op *outerOp) []int64 {
	in, shape := &op.inside[0], []int64(nil)
	switch {
	case op.name == "aten::copy_" || len(in.shapes) == 0:
	case copying[op.name]:
		if slices.ContainsFunc(op.inside, func(in shapedOp) bool { return in.name == "aten::copy_" }) {
			shape = in.shapes[0]
		}
	case joining[op.name]:
		shape = joined(in)
	case op.name == "aten::index", op.name == "aten::index_select":
		if n := rowsTaken(op); n > 0 {
			shape = append([]int64{n}, in.shapes[0][1:]...)
		}
	}
	if len(shape) == 0 || arguments.Product(shape) < price.RowsCopied {
		return nil
	}
	return shape
}

// joined is the shape of what tensors become that are written one below the other; nil where that is not known.
func joined(in *shapedOp) []int64 {
	if len(in.list) == 0 || len(in.list[0]) == 0 || len(in.concrete) > 1 && in.concrete[1] != "0" && in.concrete[1] != "" {
		return nil
	}
	if in.name == "aten::stack" {
		return append([]int64{int64(len(in.list))}, in.list[0]...)
	}
	shape := slices.Clone(in.list[0])
	for _, one := range in.list[1:] {
		if len(one) != len(shape) || !slices.Equal(one[1:], shape[1:]) {
			return nil
		}
		shape[0] += one[0]
	}
	return shape
}

// rowsTaken is how many rows an operator takes, 0 where that is not known.
func rowsTaken(op *outerOp) int64 {
	in := &op.inside[0]
	switch op.name {
	case "aten::index_select":
		if len(in.shapes) > 2 && len(in.shapes[2]) == 1 && len(in.concrete) > 1 && in.concrete[1] == "0" {
			return in.shapes[2][0]
		}
		return 0
	case "aten::slice", "aten::select":
		if t, ok := takenBy(in); ok && t.dim == 0 {
			return t.places
		}
		return 0
	}
	for i := range op.inside { // index makes a view in the result's shape of what it reads
		if at := &op.inside[i]; at.name == "aten::as_strided" && len(at.concrete) > 1 {
			if shapes := arguments.Shapes("[" + at.concrete[1] + "]"); len(shapes) == 1 && len(shapes[0]) == len(in.shapes[0]) {
				return shapes[0][0]
			}
		}
	}
	return 0
}
