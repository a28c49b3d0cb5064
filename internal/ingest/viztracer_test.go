package ingest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestVizTracer: calls and times of testdata/viztracer/prog.py as VizTracer 1.1.1 logged them, checked with a few lines of Python.
func TestVizTracer(t *testing.T) {
	s := openRocprof(t, "testdata/viztracer/calls.json.gz")
	if len(s.Calls) != 1 || len(s.Traces) != 1 || s.Inputs[0].Format != "viztracer" || s.Calls[0].Input != 0 {
		t.Fatalf("%d calls, %+v", len(s.Calls), s.Inputs)
	}
	got := map[string]*model.CallFunction{}
	var total model.Dur
	for i := range s.Calls[0].Functions {
		f := &s.Calls[0].Functions[i]
		got[f.Name] = f
		total += f.Own
	}
	leaf, branch, slow := got["leaf"], got["branch"], got["slow"]
	if leaf.Calls != 120 || leaf.Cumulative != 2335965 || leaf.Own != leaf.Cumulative || leaf.Line != 2 ||
		leaf.File != "/home/user/prog.py" ||
		branch.Calls != 60 || branch.Cumulative != 2375162 || branch.Own != branch.Cumulative-leaf.Cumulative || slow.Calls != 2 {
		t.Errorf("leaf %+v, branch %+v, slow %+v", leaf, branch, slow)
	}
	if e := leaf.Callers; len(e) != 1 || s.Calls[0].Functions[e[0].Caller].Name != "branch" || e[0].Calls != 120 {
		t.Errorf("%+v", e)
	}
	var outermost model.Dur
	ev := &s.Traces[0].Events
	named := false
	for i, kind := range ev.Kind {
		if kind == model.KindPython && ev.Parent[i] == model.NoEvent {
			outermost += ev.Dur[i]
		}
		named = named || s.Strings.Text(ev.Name[i]) == "/home/user/prog.py(2): leaf"
	}
	if total != outermost || !named {
		t.Errorf("own times sum to %d, the outermost calls took %d; named %v", total, outermost, named)
	}
}

// TestRecursionInVizTracer: a function within itself counts once in its cumulative time.
func TestRecursionInVizTracer(t *testing.T) {
	text := `{"traceEvents":[{"ph":"X","cat":"fee","name":"f (a.py:1)","pid":1,"tid":1,"ts":1,"dur":9},` +
		`{"ph":"X","cat":"fee","name":"f (a.py:1)","pid":1,"tid":1,"ts":2,"dur":4},{"ph":"X","cat":"fee","name":"math.sqrt","pid":1,"tid":1,` +
		`"ts":3,"dur":1}],"viztracer_metadata":{"version":"1.1.1","overflow":true}}`
	s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "x"), []byte(text))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, c := &s.Calls[0].Functions[0], &s.Calls[0].Functions[1]
	if f.Calls != 2 || f.Primitive != 1 || f.Cumulative != 9000 || f.Own != 8000 || c.File != "~" || c.Own != 1000 {
		t.Errorf("%+v, %+v", f, c)
	}
	for i := range s.Traces[0].Events.Kind {
		if name := s.Strings.Text(s.Traces[0].Events.Name[i]); !strings.HasPrefix(name, "a.py(1): ") &&
			name != "<built-in function math.sqrt>" {
			t.Error(name)
		}
	}
}
