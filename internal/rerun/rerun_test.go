package rerun

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/model"
)

// recordedSession holds one trace of operators on a CPU: name, duration in µs, shapes, parent (index or -1).
func recordedSession(rows []struct {
	name   string
	us     int64
	parent int
	shapes string
}) *model.Session {
	s := &model.Session{Strings: &model.Strings{}}
	t := &model.Trace{Process: -1, Features: model.Features{Shapes: true}, Steps: make([]model.TraceStep, 2)}
	for i, r := range rows {
		t.Events.Start = append(t.Events.Start, model.Time(i)*1_000_000)
		t.Events.Dur = append(t.Events.Dur, model.Dur(r.us*1000))
		t.Events.Name = append(t.Events.Name, s.Strings.Intern(r.name))
		t.Events.Kind = append(t.Events.Kind, model.KindOp)
		t.Events.Parent = append(t.Events.Parent, model.EventID(r.parent))
		t.Events.Detail = append(t.Events.Detail, int32(i))
		t.Events.OpDetails = append(t.Events.OpDetails, model.OpDetail{Args: uint32(i)})
		t.Events.OpArgs = append(t.Events.OpArgs, model.OpArgs{Shapes: s.Strings.Intern(r.shapes),
			Types: s.Strings.Intern(`["float", "float"]`)})
	}
	s.Traces = []*model.Trace{t}
	return s
}

// TestOperatorsWithoutTensors: what takes no tensor, as aten::empty does, has nothing to make again and is not among the heaviest.
func TestOperatorsWithoutTensors(t *testing.T) {
	s := recordedSession(opRows{{"aten::empty", 900, -1, `[[], [], [], [], []]`}, {"aten::cat", 90, -1, `[[[8, 8], [8, 8]], []]`}})
	for i, types := range []string{`["ScalarList", "Scalar", "", "", "Scalar"]`, `["TensorList", "Scalar"]`} {
		s.Traces[0].Events.OpArgs[i].Types = s.Strings.Intern(types)
	}
	if got := HotOps(s, 10); len(got) != 1 || got[0].Name != "aten::cat" {
		t.Errorf("%+v", got)
	}
}

func TestHotOps(t *testing.T) {
	s := recordedSession([]struct {
		name   string
		us     int64
		parent int
		shapes string
	}{
		{"aten::matmul", 500, -1, `[[8, 8], [8, 8]]`}, // its time is that of mm
		{"aten::mm", 490, 0, `[[8, 8], [8, 8]]`},
		{"aten::mm", 510, -1, `[[8, 8], [8, 8]]`},
		{"aten::relu", 30, -1, `[[8, 8]]`},
		{"aten::add", 5, -1, `[[8, 8]]`}, // too short to be repeated
		{"custom::op", 900, -1, `[[8, 8]]`},
	})
	got := HotOps(s, 10)
	if len(got) != 2 || got[0].Name != "aten::mm" || got[1].Name != "aten::relu" {
		t.Fatalf("%+v", got)
	}
	if got[0].RecordedUs != 510 || got[0].PerStep != 1 {
		t.Errorf("%+v", got[0])
	}
	if one := HotOps(s, 1); len(one) != 1 {
		t.Errorf("%d operators, want 1", len(one))
	}
}

func TestPricesNeedReproduction(t *testing.T) {
	ops := []Op{{Name: "aten::mm", RecordedUs: 1000, PerStep: 4}, {Name: "aten::bmm", RecordedUs: 1000, PerStep: 1},
		{Name: "aten::mv", RecordedUs: 9, PerStep: 1}}
	out := `{"index": 0, "base_us": 900, "fixes": [{"fix": "bf16", "us": 450}]}
{"index": 1, "base_us": 300, "fixes": [{"fix": "bf16", "us": 100}]}
not json
{"index": 7, "base_us": 1}
{"index": 2, "base_us": null, "fixes": [], "error": "no such operator"}
`
	in := &reader{ops: ops}
	if _, err := in.Write([]byte(out)); err != nil {
		t.Fatal(err)
	}
	results := in.results(nil)
	if len(results) != 3 || !results[0].Reproduced || results[1].Reproduced || results[2].Error == "" {
		t.Fatalf("%+v", results)
	}
	prices := Prices(results)
	if len(prices) != 1 || prices[0].Fix != "bf16" || prices[0].SavedMs != 2 || prices[0].OfMs != 4 || prices[0].Ops != 1 {
		t.Errorf("%+v", prices)
	}
}

// TestEnvironment gives the process the program's settings of threads in place of the user's, and nothing else that a session says.
func TestEnvironment(t *testing.T) {
	user := []string{"PATH=/bin", "KMP_BLOCKTIME=200", "OMP_PROC_BIND=close", "BNECK_AGENT_CONFIG=x", "LD_PRELOAD=/user.so"}
	recorded := map[string]string{"OMP_PROC_BIND": "spread", "LD_PRELOAD": "/session.so", "OMP_TOOL_LIBRARIES": "/session.so",
		"GOMP_SPINCOUNT": "1\x002", "torch.get_num_threads": "4"}
	if got, want := environment(user, recorded), []string{"PATH=/bin", "LD_PRELOAD=/user.so",
		"OMP_PROC_BIND=spread"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := environment(user, nil), []string{"PATH=/bin", "KMP_BLOCKTIME=200", "OMP_PROC_BIND=close",
		"LD_PRELOAD=/user.so"}; !slices.Equal(got, want) {
		t.Errorf("%q where nothing was recorded, want %q", got, want)
	}
}

// TestLongLists takes no list that no operator has.
func TestLongLists(t *testing.T) {
	type rows = []struct {
		name   string
		us     int64
		parent int
		shapes string
	}
	long := "[[8]" + strings.Repeat(", [8]", 1<<20) + "]"
	if got := HotOps(recordedSession(rows{{"aten::cat", 500, -1, long}}), 10); len(got) != 0 {
		t.Errorf("an operator of a million inputs: %d bytes of shapes", len(got[0].Shapes))
	}
}

// TestMeasure repeats operators with a real PyTorch: times that cannot be right get no fixes, inputs that cannot be made are said.
func TestMeasure(t *testing.T) {
	path, err := exec.LookPath("python3")
	if out, envErr := exec.Command("../../scripts/env.sh", "newest").Output(); envErr == nil {
		path, err = strings.TrimSpace(string(out)), nil
	}
	if err != nil || exec.Command(path, "-c", "import torch").Run() != nil {
		t.Skip("no PyTorch here")
	}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	mm := Op{Name: "aten::mm", Shapes: raw(`[[192, 192], [192, 192]]`), Strides: raw(`[[192, 1], [1, 192]]`),
		Types: raw(`["float", "float"]`), Concrete: raw(`["", ""]`)}
	relu := Op{Name: "aten::relu", Shapes: raw(`[[64, 64]]`), Strides: raw(`[[64, 1]]`), Types: raw(`["float"]`),
		Concrete: raw(`[""]`), RecordedUs: 1e9}
	odd := Op{Name: "aten::nothing_of_the_kind", Shapes: raw(`[]`), Strides: raw(`[]`), Types: raw(`[]`),
		Concrete: raw(`[]`), RecordedUs: 1}
	options := Options{Interpreter: path, Budget: time.Second, Threads: 1, Cores: 1}
	first, err := Measure(context.Background(), []Op{mm}, options)
	if err != nil || len(first) != 1 || first[0].BaseUs == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	mm.RecordedUs = *first[0].BaseUs * 0.01 // recorded a hundred times faster than it can be
	got, err := Measure(context.Background(), []Op{mm, relu, odd}, options)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		if r.Reproduced || len(r.Fixes) > 0 {
			t.Errorf("%s has a price: %+v", r.Op.Name, r)
		}
	}
	if got[2].Error == "" {
		t.Error("an operator that does not exist was run")
	}
	if _, err := Measure(context.Background(), []Op{mm}, Options{Interpreter: "/no/such/python", Budget: time.Second}); err == nil {
		t.Error("no error without an interpreter")
	}
}
