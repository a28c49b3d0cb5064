package rerun

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// torchPython is a Python with PyTorch; the test is skipped without one.
func torchPython(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if out, envErr := exec.Command("../../scripts/env.sh", "newest").Output(); envErr == nil {
		path, err = strings.TrimSpace(string(out)), nil
	}
	if err != nil || exec.Command(path, "-c", "import torch").Run() != nil {
		t.Skip("no PyTorch here")
	}
	return path
}

// recorded makes an operator as a trace records it: each input is its shape, its type and its value, "" where there is none.
func recorded(name string, inputs ...[3]string) Op {
	var shapes, types, concrete []string
	for _, in := range inputs {
		shape := in[0]
		if shape == "" {
			shape = "[]"
		}
		shapes = append(shapes, shape)
		types = append(types, in[1])
		concrete = append(concrete, in[2])
	}
	list := func(texts []string) json.RawMessage {
		raw, err := json.Marshal(texts)
		if err != nil {
			panic(err)
		}
		return raw
	}
	return Op{Name: name, Shapes: json.RawMessage("[" + strings.Join(shapes, ",") + "]"), Strides: json.RawMessage("[]"),
		Types: list(types), Concrete: list(concrete), RecordedUs: 1}
}

// strided gives the inputs strides.
func (op Op) strided(strides string) Op {
	op.Strides = json.RawMessage(strides)
	return op
}

// with adds what a trace records inside an operator.
func (op Op) with(inside ...Op) Op {
	for _, in := range inside {
		op.Inside = append(op.Inside, Inner{in.Name, in.Shapes, in.Types, in.Concrete})
	}
	return op
}

func floats(shape string) [3]string   { return [3]string{shape, "float", ""} }
func longs(shape string) [3]string    { return [3]string{shape, "long int", ""} }
func scalar(value string) [3]string   { return [3]string{"", "Scalar", value} }
func scalars(values string) [3]string { return [3]string{"", "ScalarList", values} }
func tensors(shapes string) [3]string { return [3]string{shapes, "TensorList", ""} }
func spread(self, shape, strides string) Op {
	return recorded("aten::as_strided", floats(self), scalars(shape), scalars(strides), none)
}
func index(shape, into string) Op { return recorded("aten::reshape", longs(shape), scalars(into)) }

var none = [3]string{"", "", ""}

// TestOperatorsThatIndex repeats what real programs spend time in and what cannot be called with any inputs: indices lie within
// bounds, also where PyTorch records no list of them, lists of tensors are made, and of several overloads the recorded one is taken.
func TestOperatorsThatIndex(t *testing.T) {
	python := torchPython(t)
	ops := []Op{
		recorded("aten::index", floats("[1000, 64]"), none).with(spread("[1000, 64]", "[500, 64]", "[0, 1]"), index("[500]", "[500, 1]")),
		recorded("aten::index", floats("[4, 100, 8]"), none).with(spread("[4, 100, 8]", "[4, 70, 8]", "[800, 0, 1]"),
			index("[70]", "[1, 70, 1]")),
		recorded("aten::index", floats("[300, 6]"), none).with(recorded("aten::nonzero", [3]string{"[300]", "bool", ""}),
			spread("[300, 6]", "[123, 6]", "[0, 1]"), index("[123]", "[123, 1]")),
		recorded("aten::index", floats("[10, 5, 20]"), none).with(recorded("aten::permute", floats("[10, 5, 20]"), scalars("[0, 2, 1]")),
			spread("[10, 20, 5]", "[33, 5]", "[0, 20]"), index("[33]", "[33, 1]"), index("[33]", "[33, 1]")),
		recorded("aten::_index_put_impl_", floats("[1000, 64]"), none, floats("[500, 64]"), scalar("True"),
			scalar("True")).with(spread("[1000, 64]", "[500, 64]", "[0, 1]"), index("[500]", "[500, 1]")),
		recorded("aten::embedding", floats("[50, 16]"), longs("[8, 32]"), scalar("-1"), scalar("False"), scalar("False")),
		recorded("aten::embedding_dense_backward", floats("[8, 32, 16]"), longs("[8, 32]"), scalar("50"), scalar("-1"), scalar("False")),
		recorded("aten::index_select", floats("[6, 40]"), scalar("1"), longs("[900]")),
		recorded("aten::gather", floats("[30, 7]"), scalar("-1"), longs("[30, 2]"), scalar("False")),
		recorded("aten::scatter_add_", floats("[30, 7]"), scalar("0"), longs("[90, 7]"), floats("[90, 7]")),
		// an index for all columns
		recorded("aten::scatter_add_", floats("[30, 7]"), scalar("0"), longs("[90, 7]"),
			floats("[90, 7]")).strided("[[7, 1], [], [1, 0], [7, 1]]"),
		recorded("aten::nll_loss_forward", floats("[64, 10]"), longs("[64]"), none, scalar("1"), scalar("-100")),
		recorded("aten::cat", tensors("[[4, 8], [5, 8]]"), scalar("0")),
		recorded("aten::stack", tensors("[[4, 8], [4, 8]]"), scalar("0")),
		recorded("aten::sum", floats("[32, 48, 96]"), scalars("[0, 2]"), scalar("False"), none, floats("[48]")),
		recorded("aten::native_layer_norm", floats("[8, 32, 16]"), scalars("[16]"), floats("[16]"), floats("[16]"),
			scalar("1.0000000000000001e-05")),
		recorded("aten::convolution_backward", floats("[2, 4, 8, 8]"), floats("[2, 3, 8, 8]"), floats("[4, 3, 3, 3]"), scalars("[4]"),
			scalars("[1, 1]"), scalars("[1, 1]"), scalars("[1, 1]"), scalar("False"), scalars("[0, 0]"), scalar("1"),
			scalars("[True, True, True]")),
		recorded("aten::add_", floats("[64, 64]"), floats("[64, 64]"), scalar("1")),
		recorded("aten::mul", floats("[64, 64]"), scalar("0.5")),
	}
	got, err := Measure(context.Background(), ops, Options{Interpreter: python, Budget: time.Second, Threads: 1, Cores: 1})
	if err != nil || len(got) != len(ops) {
		t.Fatalf("%d results of %d: %v", len(got), len(ops), err)
	}
	for i, r := range got {
		if r.BaseUs == nil {
			t.Errorf("%d, %s cannot be repeated: %s", i, r.Op.Name, r.Error)
		}
	}
	lost := recorded("aten::index", floats("[1000, 64]"), none)
	if got, err := Measure(context.Background(), []Op{lost}, Options{Interpreter: python, Budget: time.Second}); err != nil ||
		len(got) != 1 || got[0].Error == "" {
		t.Errorf("indices that nothing tells of: %+v, %v", got, err)
	}
}

// TestHotIndices tells operators apart by indices that only what they call shows.
func TestHotIndices(t *testing.T) {
	s := recordedSession([]struct {
		name   string
		us     int64
		parent int
		shapes string
	}{
		{"aten::index", 300, -1, `[[1000, 64], []]`},
		{"aten::reshape", 2, 0, `[[500], []]`},
		{"aten::index", 100, -1, `[[1000, 64], []]`},
		{"aten::reshape", 2, 2, `[[20], []]`},
		{"aten::view", 1, 3, `[[20], []]`},
	})
	got := HotOps(s, 10)
	if len(got) != 2 || len(got[0].Inside) != 1 || len(got[1].Inside) != 1 {
		t.Fatalf("%+v", got)
	}
	if got[0].RecordedUs != 300 || string(got[0].Inside[0].Shapes) != `[[500], []]` || string(got[1].Inside[0].Shapes) != `[[20], []]` {
		t.Errorf("%+v", got)
	}
}

// TestPricesOfThreads: threads that wait for each other are slow now and then, so that means count; where nothing waits, medians.
func TestPricesOfThreads(t *testing.T) {
	base := 100.0
	r := Result{Op: Op{RecordedUs: 100, PerStep: 10}, BaseUs: &base, BaseMeanUs: 400, Reproduced: true,
		Fixes: []Fixed{{"threads=2", 40, 40}, {"bf16", 50, 400}}}
	prices := Prices([]Result{r})
	if len(prices) != 2 || prices[0].Fix != "threads=2" || prices[0].SavedMs != 0.9 || prices[1].SavedMs != 0.5 {
		t.Errorf("%+v", prices)
	}
}

// TestJoin adds what all cores bring to operators that both processes reproduced.
func TestJoin(t *testing.T) {
	one, two := 100.0, 80.0
	results := []Result{{index: 3, BaseUs: &one, BaseMeanUs: 100, Reproduced: true}, {index: 4, BaseUs: &one, Reproduced: false}}
	join(results, []Result{{index: 3, BaseUs: &two, BaseMeanUs: 80, Reproduced: true, Fixes: []Fixed{{"cores=2", 40, 40}}},
		{index: 4, BaseUs: &two, Reproduced: true, Fixes: []Fixed{{"cores=2", 40, 40}}}, {index: 9}})
	if len(results[0].Fixes) != 1 || results[0].Fixes[0].Us != 50 || len(results[1].Fixes) != 0 {
		t.Errorf("%+v", results)
	}
}
