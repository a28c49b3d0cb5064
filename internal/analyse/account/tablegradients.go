package account

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// TableGradient is what a traced step spends on embedding tables of one shape whose gradient holds all of their rows: those that no index
// of the step names get zeros, and the optimizer goes over them as over the others.
type TableGradient struct {
	Rows, Width int64   // of a table
	Lookups     float64 // indices looked up per step: at least as many as rows that have a gradient
	Backward    float64 // ns per step in which the gradient is made, summed and cleared
	Optimizer   float64 // ns per step of the optimizer's operators on tensors of this shape
	Tied        bool    // a product of matrices takes a tensor of this shape: all rows may truly have a gradient
}

// denseBackward are the operators that make such a gradient: the positions of the indices and of the number of rows among their inputs.
var denseBackward = map[string]struct{ indices, rows int }{
	"aten::embedding_dense_backward":      {1, 2},
	"aten::_embedding_bag_dense_backward": {1, 5},
}

// wholeTable are operators outside of the optimizer that go over a gradient: it is added to another, cleared, clipped.
var wholeTable = map[string]bool{"aten::add_": true, "aten::zero_": true, "aten::fill_": true, "aten::mul_": true}

// TableGradients are the embedding tables with gradients of all rows in the traced steps that recorded shapes, the costliest first, and all
// ns of operators in such a step, of the thread that drives it: what a device's own thread computes backwards is not among them.
func TableGradients(s *model.Session, b *Breakdown) (tables []TableGradient, all float64) {
	sums := tableSums{strings: s.Strings, of: map[tableShape]*TableGradient{}, parts: map[model.Str][]tablePart{},
		products: map[model.Str]bool{}}
	steps := 0.0
	for _, st := range TracedSteps(s, b) {
		if st.Trace.Features.Shapes && st.EachOp(b.Thread, sums.find) {
			steps++
		}
	}
	if len(sums.of) == 0 {
		return nil, 0
	}
	for _, st := range TracedSteps(s, b) {
		if st.Trace.Features.Shapes {
			sums.until = 0
			st.EachOp(b.Thread, sums.add)
		}
	}
	for _, t := range sums.of {
		t.Lookups, t.Backward, t.Optimizer = t.Lookups/steps, t.Backward/steps, t.Optimizer/steps
		tables = append(tables, *t)
	}
	slices.SortFunc(tables, func(x, y TableGradient) int {
		return cmp.Or(cmp.Compare(y.Backward+y.Optimizer, x.Backward+x.Optimizer), cmp.Compare(y.Rows, x.Rows),
			cmp.Compare(y.Width, x.Width))
	})
	return tables, sums.all / steps
}

// tableShape is the rows and the width of a table.
type tableShape [2]int64

// tablePart is a table that an operator's first input has the shape of, and its share where that input is a list of tensors.
type tablePart struct {
	table *TableGradient
	share float64
}

type tableSums struct {
	strings  *model.Strings
	of       map[tableShape]*TableGradient
	parts    map[model.Str][]tablePart // by the recorded shapes
	products map[model.Str]bool        // names of operators that multiply matrices
	until    model.Time                // end of the last operator that was counted whole
	all      float64
}

// find notes the tables.
func (t *tableSums) find(ev *model.Events, id model.EventID, _ bool) {
	at, ok := denseBackward[t.strings.Text(ev.Name[id])]
	if !ok {
		return
	}
	args := ev.OpArgsOf(ev.Detail[id])
	dims, values := arguments.Shapes(t.strings.Text(args.Shapes)), arguments.Texts(t.strings.Text(args.Concrete))
	if len(dims) <= at.indices || len(values) <= at.rows || len(dims[0]) == 0 {
		return
	}
	rows, err := strconv.ParseInt(values[at.rows], 10, 64)
	if err != nil || rows <= 0 {
		return
	}
	shape := tableShape{rows, dims[0][len(dims[0])-1]}
	if elements(shape[:]) == 0 {
		return
	}
	if t.of[shape] == nil {
		t.of[shape] = &TableGradient{Rows: rows, Width: shape[1]}
	}
	t.of[shape].Lookups += elements(dims[at.indices])
	t.of[shape].Backward += float64(ev.Dur[id])
}

// add counts one operator of a step, once all tables are known.
func (t *tableSums) add(ev *model.Events, id model.EventID, outer bool) {
	if outer {
		t.all += float64(ev.Dur[id])
	}
	shapes, name := ev.OpArgsOf(ev.Detail[id]).Shapes, t.strings.Text(ev.Name[id])
	if _, made := denseBackward[name]; made {
		t.until = ev.End(id)
	}
	if shapes == 0 || ev.Start[id] < t.until {
		return
	}
	parts, ok := t.parts[shapes]
	if !ok {
		parts = t.partsOf(t.strings.Text(shapes))
		t.parts[shapes] = parts
	}
	product, ok := t.products[ev.Name[id]]
	if !ok {
		product = naming.OpKindOf(name) == naming.OpMatmul
		t.products[ev.Name[id]] = product
	}
	if product {
		t.tie(t.strings.Text(shapes))
	}
	if len(parts) == 0 {
		return
	}
	optimizer := inOptimizer(ev, id, t.strings)
	if !optimizer && !wholeTable[name] {
		return
	}
	for _, p := range parts {
		if time := p.share * float64(ev.Dur[id]); optimizer {
			p.table.Optimizer += time
		} else {
			p.table.Backward += time
		}
	}
	t.until = ev.End(id)
}

// partsOf finds the tables in an operator's first input, given all recorded shapes.
func (t *tableSums) partsOf(shapes string) (out []tablePart) {
	first := arguments.Shapes(shapes)
	if list, ok := strings.CutPrefix(shapes, "[[["); ok {
		list, _, _ = strings.Cut(list, "]]")
		first = arguments.Shapes("[[" + list + "]]")
	} else if len(first) > 1 {
		first = first[:1]
	}
	all := 0.0
	for _, dims := range first {
		all += elements(dims)
	}
	for _, dims := range first {
		if len(dims) == 2 && t.of[tableShape{dims[0], dims[1]}] != nil {
			out = append(out, tablePart{t.of[tableShape{dims[0], dims[1]}], elements(dims) / all})
		}
	}
	return out
}

// elements is how many a tensor of these dimensions has; 0 where one of them is none.
func elements(dims []int64) float64 {
	n := 1.0
	for _, d := range dims {
		n *= float64(max(d, 0))
	}
	return n
}

// tie notes the tables that an operator of these inputs takes whole.
func (t *tableSums) tie(shapes string) {
	for _, dims := range arguments.Shapes(shapes) {
		if len(dims) != 2 {
			continue
		}
		for _, shape := range []tableShape{{dims[0], dims[1]}, {dims[1], dims[0]}} {
			if table := t.of[shape]; table != nil {
				table.Tied = true
			}
		}
	}
}
