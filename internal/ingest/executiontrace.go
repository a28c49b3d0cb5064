package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of execution traces.
const (
	maxGraphNames  = 1 << 16
	maxGraphShapes = 1 << 12 // of one operator
)

// graphNode is a node of an execution trace (pytorch/pytorch, torch/csrc/profiler/standalone/execution_trace_observer.cpp): up to
// schema 1.0.1 its inputs stand in lists of their own, later within one object.
type graphNode struct {
	Name   string          `json:"name"`
	Inputs json.RawMessage `json:"inputs"`
	Shapes json.RawMessage `json:"input_shapes"`
}

// graphInputs are a node's inputs since schema 1.0.2.
type graphInputs struct {
	Values json.RawMessage `json:"values"`
	Shapes json.RawMessage `json:"shapes"`
}

// graphOperator sums one name.
type graphOperator struct {
	name   string
	calls  int64
	bytes  int64
	shapes map[string]int64
}

type graphReader struct {
	in     *jsonStream
	schema string
	nodes  int64
	names  map[string]*graphOperator
}

// readExecutionTrace reads the graph of operators with their inputs. There are no times in it.
func readExecutionTrace(o *opening, src source, r io.Reader) (func() error, error) {
	g := &graphReader{in: newJSONStream(r), names: map[string]*graphOperator{}}
	var damage []model.Diagnostic
	if err := g.read(); err != nil {
		if len(g.names) == 0 {
			return nil, &UnusableError{Path: src.path, Reason: "an execution trace that cannot be read: " + err.Error(), err: err}
		}
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: g.in.InputOffset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
	}
	return addTable(o, src, g.table(), g.nodes, damage...), nil
}

func (g *graphReader) read() error {
	return g.in.object(func(name string) error {
		switch name {
		case "schema":
			return g.in.value(&g.schema)
		case "nodes":
			return g.in.array(func(int) error {
				var n graphNode
				err := g.in.value(&n)
				if err == nil {
					g.node(&n)
				}
				return err
			})
		}
		return g.in.skip()
	})
}

func (g *graphReader) node(n *graphNode) {
	g.nodes++
	if strings.HasPrefix(n.Name, "[pytorch|profiler|") || strings.HasPrefix(n.Name, "## ") || n.Name == "" {
		return
	}
	op := g.names[n.Name]
	if op == nil {
		if len(g.names) >= maxGraphNames {
			return
		}
		op = &graphOperator{name: n.Name, shapes: map[string]int64{}}
		g.names[n.Name] = op
	}
	op.calls++
	values, shapes := n.Inputs, n.Shapes
	if len(values) > 0 && values[0] == '{' {
		var in graphInputs
		if json.Unmarshal(values, &in) != nil {
			return
		}
		values, shapes = in.Values, in.Shapes
	}
	op.bytes += tensorBytes(values)
	var text bytes.Buffer
	if json.Compact(&text, shapes) == nil && (len(op.shapes) < maxGraphShapes || op.shapes[text.String()] > 0) {
		op.shapes[text.String()]++
	}
}

// tensorBytes adds up the tensors among a node's values: [id, storage, offset, elements, bytes of an element, device], also in lists.
func tensorBytes(raw json.RawMessage) (sum int64) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return 0
	}
	var n [6]json.RawMessage
	if len(list) == 6 && bytes.HasPrefix(list[5], []byte(`"`)) {
		copy(n[:], list)
		var elements, size int64
		if json.Unmarshal(n[3], &elements) == nil && json.Unmarshal(n[4], &size) == nil && elements >= 0 && size >= 0 &&
			size <= 16 && elements < 1<<44 {
			return elements * size
		}
		return 0
	}
	for _, item := range list {
		if len(item) > 0 && item[0] == '[' {
			sum += tensorBytes(item)
		}
	}
	return sum
}

func (g *graphReader) table() *model.FileTable {
	t := &model.FileTable{Name: "execution-trace", Title: "Operators of an execution trace",
		Columns: []model.FileColumn{{Name: "operator"}, {Name: "calls", Unit: model.FileCount},
			{Name: "input bytes", Unit: model.FileBytes}, {Name: "different shapes", Unit: model.FileCount},
			{Name: "most frequent shapes"}}}
	var list []*graphOperator
	calls := int64(0)
	for _, op := range g.names {
		list = append(list, op)
		calls += op.calls
	}
	slices.SortFunc(list, func(a, b *graphOperator) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
	})
	for _, op := range list {
		most, times := "", int64(0)
		for shape, n := range op.shapes {
			if n > times || n == times && shape < most {
				most, times = shape, n
			}
		}
		t.Rows = append(t.Rows, []model.FileCell{fileText(op.name), fileCount(op.calls), fileCount(op.bytes),
			fileCount(len(op.shapes)), fileText(most)})
	}
	t.Sentence = fmt.Sprintf("%d operators of %d names, without times", calls, len(list))
	if len(list) > 0 {
		t.Sentence += fmt.Sprintf("; most input bytes go through %s (%d calls)", list[0].name, list[0].calls)
	}
	t.Sentence += ". An execution trace prices no fix: report the Kineto trace that was recorded beside it."
	return t
}
