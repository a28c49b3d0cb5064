package memory

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// FindComputedRows names layers that compute many rows of which few are taken next, as where all items of a catalogue are encoded for those
// of a batch.
func FindComputedRows(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	r := &computedRows{}
	f, t, ok := sequenceAnywhere(c, r, finding.Finding{Cause: finding.MemoryBound, Sub: "computed-rows"}, takesRows, price.ComputedRows)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-computed-rows", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.computed-rows", wording.Time("time", t), c.Said(),
		wording.Count("rows", r.rows), wording.Count("taken", r.taken))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-computed-rows")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-computed-rows")}
	return []finding.Draft{f}
}

// takesRows matches a line that may take rows of a tensor.
var takesRows = regexp.MustCompile(`\.index_select\(\s*(?:dim\s*=\s*)?0\s*,|\w\)?\[[a-z_.]+\]`)

// computedRows are tensors whose rows operators compute each by itself, and what takes few of them, with nothing else that reads as many
// rows before the layers are called again.
type computedRows struct {
	open        []rowsMade // by their numbers of rows
	rows, taken int64      // of the largest tensor
}

// rowsMade is how many rows some operators compute, and how many of these are taken.
type rowsMade struct {
	made       []outerOp
	size, took int64
	shapes     [][]int64 // of what was read, the first layer's first
	other      bool      // something else may have read them
	viewed     bool      // the last operator gave another shape
}

func (r *computedRows) wants(name string) bool { return len(r.open) > 0 || layers[name] }

func (r *computedRows) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		for len(r.open) > 0 && whole == nil {
			last := r.open[0]
			r.open = r.open[1:]
			whole, counts = r.over(&last)
		}
		return whole, counts
	}
	at := slices.IndexFunc(op.inside, func(in shapedOp) bool { return in.name == op.name })
	if at < 0 || len(op.inside[at].shapes) == 0 {
		return nil, 0
	}
	op.inside = op.inside[at:]
	read := op.inside[0].shapes[0]
	rows := int64(0) // of a number, or of a list of tensors
	if len(read) > 0 {
		rows = read[0]
	}
	begins := layers[op.name] && len(read) > 1 && rows >= price.RowsComputed && alone(&op.inside[0], rows)
	r.open = slices.DeleteFunc(r.open, func(m rowsMade) bool {
		if !begins || m.size != rows || m.took == 0 || !slices.Equal(m.shapes[0], read) {
			return false
		}
		whole, counts = r.over(&m)
		return true
	})
	known := false
	for i := range r.open {
		known = known || r.open[i].size == rows
		r.open[i].next(op, read, rows)
	}
	r.open = slices.DeleteFunc(r.open, func(m rowsMade) bool { return m.made == nil })
	if begins && !known && len(r.open) < mostShapes {
		r.open = append(r.open, rowsMade{made: []outerOp{*op}, size: rows, shapes: [][]int64{read}})
	}
	return whole, counts
}

// next takes an operator, the shape of its first input and the rows of that.
func (m *rowsMade) next(op *outerOp, read []int64, rows int64) {
	in := &op.inside[0]
	switch {
	case !reads(in, m.size):
		if m.viewed && !passing.MatchString(op.name) { // rows in another shape: what mixes them has their number nowhere
			m.made = nil
		}
	case taking[op.name] && len(read) > 1 && rows == m.size:
		n := rowsTaken(op)
		m.took, m.other = m.took+n, m.other || n == 0
		m.made, m.shapes = append(m.made, *op), append(m.shapes, read)
	case len(read) < 2 && taking[op.name]: // another table with as many entries
	case m.took > 0: // a table of weights may have as many rows
		m.other = m.other || slices.ContainsFunc(in.shapes, func(s []int64) bool { return len(s) > 1 && m.knows(s) })
	case rows == m.size && alone(in, m.size) && (layers[op.name] || byRow.MatchString(op.name) ||
		naming.OpKindOf(op.name) == naming.OpElementwise):
		m.made, m.shapes, m.viewed = append(m.made, *op), append(m.shapes, read), passing.MatchString(op.name)
	default: // it needs all rows: what was computed up to here is used
		m.made = nil
	}
}

// knows says that a tensor of this shape was read.
func (m *rowsMade) knows(shape []int64) bool {
	return slices.ContainsFunc(m.shapes, func(s []int64) bool { return slices.Equal(s, shape) })
}

// layers are operators that compute a row from a row and weights.
var layers = map[string]bool{"aten::linear": true, "aten::addmm": true, "aten::mm": true, "aten::matmul": true,
	"aten::conv1d": true, "aten::conv2d": true, "aten::conv3d": true}

// byRow are others of which a row's result needs no other row, beside those that work number by number.
var byRow = regexp.MustCompile(`^aten::(?:to|contiguous|clone|view|reshape|_unsafe_view|flatten|expand_as|layer_norm|rms_norm|group_norm|` +
	`linalg_vector_norm|(?:max|avg|adaptive_avg|adaptive_max)_pool[123]d)$`)

// alone says that no input but in its first dimension has so many places: each row is computed from one row, and what all rows share.
func alone(in *shapedOp, rows int64) bool {
	return !slices.ContainsFunc(in.shapes, func(s []int64) bool { return len(s) > 1 && slices.Contains(s[1:], rows) })
}

// reads says that an input has so many rows, or columns.
func reads(in *shapedOp, rows int64) bool {
	return slices.ContainsFunc(in.shapes, func(s []int64) bool { return slices.Contains(s, rows) })
}

// over takes rows that nothing can read any more.
func (r *computedRows) over(m *rowsMade) (whole []outerOp, counts float64) {
	share := float64(m.took) / float64(m.size)
	if m.took == 0 || share > price.RowsTaken || m.other {
		return nil, 0
	}
	if m.size > r.rows {
		r.rows, r.taken = m.size, m.took
	}
	return m.made, 1 - share
}
