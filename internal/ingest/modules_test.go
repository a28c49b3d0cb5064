package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// moduleTrace is a step of a net of two layers: its forward pass on thread 7, then the backward pass on the same thread and, of a
// device, on thread 8. Times are microseconds after base.
func moduleTrace(base int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"schemaVersion": 1, "baseTimeNanoseconds": %d, "traceEvents": [`, base)
	separator := ""
	op := func(name string, tid, start, end, sequence, thread int) {
		args := ""
		if sequence >= 0 {
			args = fmt.Sprintf(`, "Sequence number": %d, "Fwd thread id": %d`, sequence, thread)
		}
		fmt.Fprintf(&b,
			`%s{"ph": "X", "cat": "cpu_op", "name": %q, "pid": 1, "tid": %d, "ts": %d, "dur": %d, "args": {"External id": %d%s}}`,
			separator, name, tid, start, end-start, start, args)
		separator = ",\n"
	}
	op("aten::randn", 7, 10, 20, -1, 0)
	op("aten::linear", 7, 110, 130, 4, 0) // a, which runs from 100 to 140
	op("aten::addmm", 7, 112, 128, 4, 0)
	op("aten::relu", 7, 150, 160, 5, 0)         // b, from 141 to 170
	op("CheckpointFunction", 7, 180, 260, 6, 0) // in the net, around a call of a from 200 to 250
	op("aten::addmm", 7, 210, 220, -1, 0)       // in that call
	op("aten::mul", 7, 252, 258, -1, 0)         // after it
	op("aten::mean", 7, 320, 330, 7, 0)         // outside
	const node = "autograd::engine::evaluate_function: "
	op(node+"MeanBackward0", 7, 400, 410, 7, 1)
	op(node+"CheckpointFunctionBackward", 7, 420, 520, 6, 1)
	op("CheckpointFunctionBackward", 7, 421, 519, 6, 1)
	op("aten::addmm", 7, 440, 450, 9, 0) // recomputed in a, from 430 to 460
	op(node+"AddmmBackward0", 7, 470, 490, 9, 1)
	op("aten::mm", 7, 472, 480, -1, 0)
	op(node+"ReluBackward0", 8, 600, 610, 5, 1)
	op(node+"AddmmBackward0", 8, 620, 650, 4, 1)
	op("aten::mm", 8, 630, 640, -1, 0)
	op(node+"torch::autograd::AccumulateGrad", 8, 660, 670, -1, 0)
	op(node+"UnknownBackward", 8, 680, 690, 77, 1)
	return b.String() + `]}`
}

const moduleCalls = `{"schema": "bottleneck.modules/1", "start_unix_ns": %d, "names": [["Net", "Net"], ["Net.a", "Linear"], ["Net.b", "ReLU"]],
	"threads": {"7": [1, 10000, 40000, 2, 51000, 29000, 0, 0, 200000, 1, 110000, 50000, 1, 340000, 30000, 9, 0, 1, 0, 5], "x": [0]}}`

func TestModulesOfOperators(t *testing.T) {
	const base = 1_700_000_000_000_000_000
	s := &model.Session{Strings: &model.Strings{}}
	tr, err := ReadTrace(context.Background(), strings.NewReader(moduleTrace(base)), "t.json", s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "modules-0.json.gz")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprintf(w, moduleCalls, base+90_000)
	w.Close()
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Traces = []*model.Trace{tr}
	r := &sessionReader{s: s, dir: filepath.Dir(path)}
	r.modules(tr, filepath.Dir(path), 0)
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	var got []string
	ev := &tr.Events
	for id := range ev.Len() {
		place, way := "-", ""
		if at := tr.Modules.At(model.EventID(id)); at != nil {
			place = s.Strings.Text(at.Path) + " " + s.Strings.Text(at.Class)
		}
		if tr.Modules.Backward[id] {
			way = " backward"
		}
		name := strings.Replace(s.Strings.Text(ev.Name[id]), "autograd::engine::evaluate_function: ", "run ", 1)
		got = append(got, name+": "+place+way)
	}
	want := `aten::randn: -
aten::linear: Net.a Linear
aten::addmm: Net.a Linear
aten::relu: Net.b ReLU
CheckpointFunction: Net Net
aten::addmm: Net.a Linear
aten::mul: Net Net
aten::mean: -
run MeanBackward0: -
run CheckpointFunctionBackward: Net Net backward
CheckpointFunctionBackward: Net Net backward
aten::addmm: Net.a Linear
run AddmmBackward0: Net.a Linear backward
aten::mm: Net.a Linear backward
run ReluBackward0: Net.b ReLU backward
run AddmmBackward0: Net.a Linear backward
aten::mm: Net.a Linear backward
run torch::autograd::AccumulateGrad: Net.a Linear backward
run UnknownBackward: -`
	if strings.Join(got, "\n") != want {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
	if len(tr.Modules.Calls) != 5 || tr.Modules.Calls[0].Parent != -1 || tr.Modules.Calls[1].Parent != 0 ||
		tr.Modules.Calls[4].Parent != -1 {
		t.Errorf("%+v", tr.Modules.Calls)
	}
}

// Damaged lists of calls are said, and nothing else of the session is lost.
func TestDamagedModules(t *testing.T) {
	for _, text := range []string{"", "{", `{"schema": "other/1"}`, `{"schema": "bottleneck.modules/1", "threads": {"7": ["x"]}}`,
		"\x1f\x8b\x08"} {
		s := &model.Session{Strings: &model.Strings{}}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "modules-3.json.gz"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &sessionReader{s: s, dir: dir}
		tr := &model.Trace{}
		r.modules(tr, dir, 3)
		if tr.Modules != nil || len(s.Inputs) != 1 || len(s.Inputs[0].Diagnostics) != 1 {
			t.Errorf("%q: %+v, %+v", text, tr.Modules, s.Inputs)
		}
	}
}
