package account

import (
	"fmt"
	"math"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// tableRow is one operator of a step of 100 µs: its shapes and values, the operator or annotation around it comes before it.
type tableRow struct {
	cat, name        string
	from, to         float64
	shapes, concrete string
}

func tablesIn(rows ...tableRow) ([]TableGradient, float64) {
	b := &slowtrace.Builder{}
	for _, r := range rows {
		args := ""
		if r.shapes != "" {
			args = fmt.Sprintf(`"Input Dims": %s, "Concrete Inputs": %s`, r.shapes, r.concrete)
		}
		b.Add(r.cat, r.name, 1, 1, r.from, r.to, args)
	}
	trace, s := b.Trace()
	trace.Process, trace.From, trace.To = 0, 0, model.Time(slowtrace.Micros(1000))
	p := &model.Process{}
	return TableGradients(&model.Session{Strings: s, Traces: []*model.Trace{trace}, Processes: []*model.Process{p}},
		&Breakdown{Process: p, Thread: 1})
}

const (
	tableGradient = "aten::embedding_dense_backward"
	gradientOf    = `[[512, 8, 32], [512, 8], [], [], []]`
	thousandRows  = `["", "", "9000", "-1", "False"]`
	nothing       = `[]`
)

// The gradient, its sums and the optimizer's work on tensors of the table's shape are the table's; what other tensors cost is not.
func TestTableGradients(t *testing.T) {
	forward := tableRow{"cpu_op", "aten::embedding", 0, 5, `[[9000, 32], [512, 8], [], [], []]`, nothing}
	made := tableRow{"cpu_op", tableGradient, 20, 40, gradientOf, thousandRows}
	filled := tableRow{"cpu_op", "aten::fill_", 22, 30, `[[9000, 32], []]`, nothing} // inside
	summed := tableRow{"cpu_op", "aten::add_", 40, 44, `[[9000, 32], [9000, 32], []]`, nothing}
	step := tableRow{"user_annotation", "Optimizer.step#Adagrad.step", 50, 100, "", ""}
	root := tableRow{"cpu_op", "aten::sqrt", 50, 70, `[[9000, 32]]`, nothing}
	other := tableRow{"cpu_op", "aten::sqrt", 70, 75, `[[32, 64]]`, nothing}
	fused := tableRow{"cpu_op", "aten::_fused_adam_", 50, 90, `[[[9000, 32], [9000, 32], [600, 320], [1000, 192]], [], []]`, nothing}
	product := tableRow{"cpu_op", "aten::mm", 6, 10, `[[512, 32], [32, 9000]]`, nothing}
	bag := tableRow{"cpu_op", "aten::_embedding_bag_dense_backward", 20, 40, `[[64, 32], [512], [], [], [], [], []]`,
		`["", "", "", "", "", "9000", "False", "0"]`}
	for _, c := range []struct {
		name                string
		rows                []tableRow
		backward, optimizer float64 // µs
		lookups             float64
		tied                bool
	}{
		{"alone", []tableRow{forward, made, filled, summed, step, root, other}, 24, 20, 4096, false},
		{"a fused optimizer", []tableRow{made, step, fused}, 20, 40 * 0.6, 4096, false},
		{"a tied table", []tableRow{product, made, step, root}, 20, 20, 4096, true},
		{"bags", []tableRow{bag, step, root}, 20, 20, 512, false},
	} {
		tables, all := tablesIn(c.rows...)
		if len(tables) != 1 {
			t.Fatalf("%s: %d tables", c.name, len(tables))
		}
		g := tables[0]
		near := func(ns, want float64) bool { return math.Abs(ns-want*1e3) < 1 }
		if g.Rows != 9000 || g.Width != 32 || g.Lookups != c.lookups || g.Tied != c.tied || !near(g.Backward, c.backward) ||
			!near(g.Optimizer, c.optimizer) {
			t.Errorf("%s: %+v", c.name, g)
		}
		if all < g.Backward+g.Optimizer {
			t.Errorf("%s: %.0f ns of operators in all, of which the table has %.0f", c.name, all, g.Backward+g.Optimizer)
		}
	}
	for name, row := range map[string]tableRow{
		"no rows":      {"cpu_op", tableGradient, 20, 40, gradientOf, `["", "", "", "-1", "False"]`},
		"no shapes":    {"cpu_op", tableGradient, 20, 40, "[]", thousandRows},
		"no values":    {"cpu_op", tableGradient, 20, 40, gradientOf, "[]"},
		"less than 0":  {"cpu_op", tableGradient, 20, 40, gradientOf, `["", "", "-5", "-1", "False"]`},
		"no width":     {"cpu_op", tableGradient, 20, 40, `[[512, 0], [512], [], [], []]`, thousandRows},
		"sparse":       {"cpu_op", "aten::embedding_sparse_backward", 20, 40, gradientOf, thousandRows},
		"not recorded": {"cpu_op", tableGradient, 20, 40, "", ""},
	} {
		if tables, _ := tablesIn(row, step, root); len(tables) > 0 {
			t.Errorf("%s: %+v", name, tables)
		}
	}
}
