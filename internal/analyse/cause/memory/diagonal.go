package memory

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// FindDiagonals names products whose result is a square table of which only the diagonal is used, with what is computed of the table
// before: each number on the diagonal needs one pair of rows.
func FindDiagonals(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	d := &diagonals{}
	f, t, ok := sequenceAnywhere(c, d, finding.Finding{Cause: finding.MemoryBound, Sub: "diagonal"}, takesDiagonal, price.Diagonals)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-diagonal", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.diagonal", wording.Time("time", t), c.Said(), wording.Count("rows", d.most))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-diagonal")}
	return []finding.Draft{f}
}

// takesDiagonal matches a line that may take a diagonal.
var takesDiagonal = regexp.MustCompile(`\bdiag(?:onal)?\(|\btrace\(|einsum\(`)

// diagonalOps are the operators that take one, as they are called within others.
var diagonalOps = map[string]bool{"aten::diagonal": true, "aten::diag": true, "aten::trace": true, "aten::linalg_diagonal": true}

// diagonals are square tables that products make, what is computed of them number by number, and what takes their diagonal, with nothing
// else that reads such a table before the next product makes one.
type diagonals struct {
	open []squareTable // by their numbers of rows
	most int64         // rows of the largest
}

type squareTable struct {
	made []outerOp
	rows int64
	took bool
}

func (d *diagonals) wants(name string) bool { return len(d.open) > 0 || squareProducts[name] }

// squareProducts are operators that may make a table of all pairs of rows.
var squareProducts = map[string]bool{"aten::mm": true, "aten::addmm": true, "aten::bmm": true, "aten::baddbmm": true, "aten::cdist": true}

func (d *diagonals) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		for len(d.open) > 0 && whole == nil {
			whole = d.over(0)
		}
		return whole, 1
	}
	rows, ofSquare := squareOf(op)
	at := slices.IndexFunc(d.open, func(t squareTable) bool { return t.rows == rows })
	if rows > 0 && at >= 0 && d.open[at].took {
		whole = d.over(at)
		at = -1
	}
	if rows > 0 && at < 0 && len(d.open) < mostShapes {
		d.open = append(d.open, squareTable{rows: rows})
	}
	for i := range d.open {
		d.open[i].next(op, d.open[i].rows == rows, ofSquare)
	}
	d.open = slices.DeleteFunc(d.open, func(t squareTable) bool { return len(t.made) == 0 })
	return whole, 1
}

// over takes out a table that nothing reads any more: its operators, where only its diagonal was read.
func (d *diagonals) over(at int) []outerOp {
	t := d.open[at]
	d.open = slices.Delete(d.open, at, at+1)
	if !t.took {
		return nil
	}
	d.most = max(d.most, t.rows)
	return t.made
}

// next takes an operator that makes such a table, also of another square one, or may read it.
func (t *squareTable) next(op *outerOp, makes, ofSquare bool) {
	reads := slices.ContainsFunc(op.inside, func(in shapedOp) bool {
		return slices.ContainsFunc(in.shapes, func(s []int64) bool { return t.is(s) })
	})
	switch {
	case !reads && !makes:
	case slices.ContainsFunc(op.inside, func(in shapedOp) bool {
		return diagonalOps[in.name] && len(in.shapes) > 0 && t.is(in.shapes[0])
	}):
		t.made, t.took = append(t.made, *op), true
	case t.took: // another number than those on the diagonal may be used
		t.made = nil
	case makes && ofSquare: // each number of this table rests on a row of the other
		t.made = []outerOp{*op}
	case makes || naming.OpKindOf(op.name) == naming.OpElementwise || byNumber.MatchString(op.name):
		t.made = append(t.made, *op)
	default:
		t.made = nil
	}
}

// byNumber are operators of which each result needs one number, beside those that work number by number.
var byNumber = regexp.MustCompile(`^aten::(?:to|t|transpose|numpy_T|contiguous|clone|detach|alias|masked_fill|where|pow|sqrt|rsqrt|clamp(?:_min|_max)?|square|` +
	`neg|abs|reciprocal)$`)

// is says that a shape is the table's, or that of several such.
func (t *squareTable) is(shape []int64) bool {
	n := len(shape)
	return n > 1 && shape[n-1] == t.rows && shape[n-2] == t.rows
}

// squareOf is how many rows a square table has that an operator makes as a product, also of a square one; 0 where it makes none that is
// large enough.
func squareOf(op *outerOp) (rows int64, ofSquare bool) {
	for _, in := range op.inside {
		if !squareProducts[in.name] || len(in.shapes) < 2 {
			continue
		}
		a, b := in.shapes[0], in.shapes[1]
		if strings.Contains(in.name, "add") && len(in.shapes) > 2 { // what is added, then the two
			a, b = b, in.shapes[2]
		}
		if len(a) < 2 || len(b) < 2 {
			continue
		}
		rows, columns := a[len(a)-2], b[len(b)-1]
		if in.name == "aten::cdist" {
			columns = b[len(b)-2]
		}
		if rows == columns && rows >= price.DiagonalRows {
			return rows, a[len(a)-1] == rows
		}
	}
	return 0, false
}
