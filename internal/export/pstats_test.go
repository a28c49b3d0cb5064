package export

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// pythonSession is one thread on which main (0–100 ns) calls f twice, and f calls itself once and an operator.
func pythonSession() *model.Session {
	s := &model.Session{Strings: &model.Strings{}}
	t := &model.Trace{Process: -1, Rank: model.NoRank}
	e := &t.Events
	add := func(kind model.Kind, name string, start, dur int64) {
		e.Start = append(e.Start, model.Time(start))
		e.Dur = append(e.Dur, model.Dur(dur))
		e.Name = append(e.Name, s.Strings.Intern(name))
		e.Kind = append(e.Kind, kind)
		e.Lane = append(e.Lane, 0)
		e.Detail = append(e.Detail, -1)
		e.Link = append(e.Link, model.NoEvent)
		e.Op = append(e.Op, model.NoEvent)
		e.Parent = append(e.Parent, model.NoEvent)
	}
	add(model.KindPython, "a.py(1): main", 0, 100)
	add(model.KindPython, "dir (x)/b.py(20): f", 10, 50)
	add(model.KindPython, "dir (x)/b.py(20): f", 20, 30)
	add(model.KindOp, "aten::add", 25, 5)
	add(model.KindPython, "<built-in function len>", 31, 4)
	add(model.KindPython, "dir (x)/b.py(20): f", 70, 20)
	t.Lanes = []model.Lane{{Kind: model.LaneThread, EndEvent: model.EventID(e.Len())}}
	s.Traces = []*model.Trace{t}
	return s
}

func TestPstatsOfTraceIsWhatPythonReads(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	var out bytes.Buffer
	if err := writePstats(context.Background(), pythonSession(), &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.prof")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(python, "-c", `
import pstats, sys
ns = lambda x: round(x * 1e9)
for k, (cc, nc, tt, ct, callers) in sorted(pstats.Stats(sys.argv[1]).stats.items()):
    print(k, cc, nc, ns(tt), ns(ct), {c[2]: (n, p, ns(t), ns(u)) for c, (n, p, t, u) in callers.items()})
pstats.Stats(sys.argv[1], stream=sys.stderr).sort_stats("tottime").print_stats().print_callers()
`, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	// main: 100 − (50 + 20) own. f: own (50−30) + (30−4) + 20, cumulative of its outermost calls 50 + 20.
	want := `('a.py', 1, 'main') 1 1 30 100 {}
('dir (x)/b.py', 20, 'f') 2 3 66 70 {'f': (1, 1, 26, 30), 'main': (2, 2, 40, 70)}
('~', 0, '<built-in function len>') 1 1 4 4 {'f': (1, 1, 4, 4)}
`
	if string(got) != want {
		t.Errorf("Python reads\n%s\nwant\n%s", got, want)
	}
}

func TestPstatsWithoutCallsSaysWhatToRecord(t *testing.T) {
	err := writePstats(context.Background(), &model.Session{Strings: &model.Strings{}}, &bytes.Buffer{}, Options{Rank: model.NoRank})
	if err == nil || !strings.Contains(err.Error(), "--with-stack") {
		t.Errorf("error %v does not say what to record", err)
	}
}

// TestPstatsMerged adds the calls of two processes, in which the same functions have other numbers.
func TestPstatsMerged(t *testing.T) {
	a := &model.Calls{Functions: []model.CallFunction{
		{File: "m.py", Name: "g", Line: 1, Calls: 2, Primitive: 2, Own: 5, Cumulative: 5,
			Callers: []model.CallEdge{{Caller: 1, Calls: 2, Primitive: 2, Own: 5, Cumulative: 5}}},
		{File: "m.py", Name: "h", Line: 9, Calls: 1, Primitive: 1, Own: 1, Cumulative: 6},
	}}
	b := &model.Calls{Functions: []model.CallFunction{a.Functions[1], a.Functions[0]}}
	b.Functions[1].Callers = []model.CallEdge{{Caller: 0, Calls: 2, Primitive: 2, Own: 5, Cumulative: 5}}
	sum := MergeCalls([]*model.Calls{a, b})
	g := sum.Functions[0]
	if len(sum.Functions) != 2 || g.Calls != 4 || g.Own != 10 || len(g.Callers) != 1 || g.Callers[0].Calls != 4 ||
		g.Callers[0].Caller != 1 {
		t.Errorf("sum is %+v", sum.Functions)
	}
	if a.Functions[0].Callers[0].Calls != 2 {
		t.Error("adding up changed an input")
	}
}
