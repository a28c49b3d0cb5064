package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"bottleneck/internal/model"
)

// openText opens a text as a user's file.
func openText(t *testing.T, text string) (*model.Session, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), []string{path}, Options{})
	if err == nil {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return s, err
}

// stackSeconds sums the time of samples by their stack, written from the outside in, and by thread.
func stackSeconds(s *model.Session) map[string]float64 {
	out := map[string]float64{}
	for _, p := range s.Processes {
		sm := &p.Samples
		for i := range sm.Len() {
			text := ""
			for st := sm.Stack[i]; st != model.NoStack; st = sm.Stacks.Parent[st] {
				f := sm.Stacks.Frames[sm.Stacks.Frame[st]]
				text = fmt.Sprintf(";%s %s:%d", s.Strings.Text(f.Function), s.Strings.Text(f.File), f.Line) + text
			}
			out[s.Strings.Text(sm.Threads[sm.Thread[i]])+text] += 1 / sm.AskedHz
		}
	}
	return out
}

func checkStacks(t *testing.T, s *model.Session, want map[string]float64) {
	t.Helper()
	got := stackSeconds(s)
	for k, v := range want {
		if math.Abs(got[k]-v) > 1e-6*v {
			t.Errorf("%s: %v s, want %v", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d stacks, want %d: %v", len(got), len(want), got)
	}
}

const speedscopeText = `{"profiles":[
 {"type":"sampled","name":"MainThread","unit":"milliseconds","startValue":0,"endValue":50,"samples":[[0,1],[0,1],[0],[]],"weights":[20,10,20,7]},
 {"type":"evented","name":"other","unit":"milliseconds","startValue":0,"endValue":30,
  "events":[{"type":"O","at":0,"frame":2},{"type":"O","at":10,"frame":1},{"type":"C","at":30,"frame":1},{"type":"C","at":30,"frame":2}]}],
 "$schema":"https://www.speedscope.app/file-format-schema.json",
 "shared":{"frames":[{"name":"main","file":"a.py","line":3},{"name":"inner","file":"b.py","line":7},{"name":"run (c.py:9)"}]}}`

func TestSpeedscope(t *testing.T) {
	s, err := openText(t, speedscopeText)
	if err != nil {
		t.Fatal(err)
	}
	checkStacks(t, s, map[string]float64{"MainThread;main a.py:3;inner b.py:7": 0.03, "MainThread;main a.py:3": 0.02,
		"other;run c.py:9": 0.01, "other;run c.py:9;inner b.py:7": 0.02})
	if p := s.Processes[0]; p.MainThread != 1 || p.Samples.Foreign != "speedscope" {
		t.Errorf("main thread %d, foreign %q", p.MainThread, p.Samples.Foreign)
	}
}

// A file cut off keeps what was whole before the cut, and says where that is.
func TestSpeedscopeCut(t *testing.T) {
	frames, rest, _ := strings.Cut(speedscopeText, `"shared"`)
	// frames first, as speedscope writes
	whole := `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared"` + strings.TrimSuffix(rest, "}") + "," +
		strings.TrimPrefix(frames, "{")
	s, err := openText(t, whole[:strings.Index(whole, `"evented"`)])
	if err != nil {
		t.Fatal(err)
	}
	checkStacks(t, s, map[string]float64{"MainThread;main a.py:3;inner b.py:7": 0.03, "MainThread;main a.py:3": 0.02})
	if d := s.Inputs[0].Diagnostics; len(d) != 1 || d[0].FirstOffset <= 0 {
		t.Errorf("diagnostics %+v, want one with its place", d)
	}
}

func TestFolded(t *testing.T) {
	s, err := openText(t, "main (a.py:3);inner (b.py:7) 2\nmain (a.py:3) 2\nmain (a.py:3);inner (b.py:7) 1\nthis is no stack\n")
	if err != nil {
		t.Fatal(err)
	}
	checkStacks(t, s, map[string]float64{";main a.py:3;inner b.py:7": 0.03, ";main a.py:3": 0.02})
	if d := s.Inputs[0].Diagnostics; len(d) != 1 || d[0].Count != 1 || d[0].FirstOffset != 78 {
		t.Errorf("diagnostics %+v, want one line at byte 78", d)
	}
	s, err = openText(t,
		"# austin: 3.6.0\n# interval: 10000\n\nP7;T0:7;/x/a.py:main:3;/x/b.py:inner:7 20000\nP7;T0:7;/x/a.py:main:3 10000\n")
	if err != nil {
		t.Fatal(err)
	}
	checkStacks(t, s, map[string]float64{"P7, T0:7;main /x/a.py:3;inner /x/b.py:7": 0.02, "P7, T0:7;main /x/a.py:3": 0.01})
}

func pprofText(t *testing.T, types ...*profile.ValueType) string {
	fn := &profile.Function{ID: 1, Name: "f", Filename: "a.py", StartLine: 1}
	loc := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn, Line: 5}}}
	p := &profile.Profile{SampleType: types, Function: []*profile.Function{fn}, Location: []*profile.Location{loc}}
	sample := &profile.Sample{Location: []*profile.Location{loc}}
	for range types {
		sample.Value = append(sample.Value, 4e9)
	}
	p.Sample = append(p.Sample, sample)
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPprof(t *testing.T) {
	s, err := openText(t, pprofText(t, &profile.ValueType{Type: "samples", Unit: "count"},
		&profile.ValueType{Type: "cpu", Unit: "nanoseconds"}))
	if err != nil {
		t.Fatal(err)
	}
	checkStacks(t, s, map[string]float64{";f a.py:5": 4})
	s, err = openText(t, pprofText(t, &profile.ValueType{Type: "inuse_space", Unit: "bytes"}))
	if err != nil {
		t.Fatal(err)
	}
	if note := s.Inputs[0].Note; !strings.Contains(note, "it holds inuse_space in bytes, no time") || len(s.Processes) != 0 {
		t.Errorf("a heap profile is %q", note)
	}
}

func TestGecko(t *testing.T) {
	processed := `{"meta":{"interval":10,"preprocessedProfileVersion":50},"threads":[{"name":"MainThread","stringArray":["f","a.py","g"],
	 "funcTable":{"length":2,"name":[0,2],"fileName":[1,1],"lineNumber":[1,4]},"frameTable":{"length":2,"func":[0,1],"line":[2,5]},
	 "stackTable":{"length":2,"prefix":[null,0],"frame":[0,1]},"samples":{"length":3,"stack":[0,1,1],"time":[0,10,20]}}]}`
	raw := `{"meta":{"interval":10,"stackwalk":1},"threads":[{"name":"MainThread","stringTable":["f (a.py:2)","g (a.py:5)"],
	 "frameTable":{"schema":{"location":0},"data":[[0],[1]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1]]},
	 "samples":{"schema":{"stack":0,"time":1},"data":[[0,0],[1,10],[1,20]]}}]}`
	for name, text := range map[string]string{"processed": processed, "raw": raw} {
		t.Run(name, func(t *testing.T) {
			s, err := openText(t, text)
			if err != nil {
				t.Fatal(err)
			}
			checkStacks(t, s, map[string]float64{"MainThread;f a.py:2": 0.01, "MainThread;f a.py:2;g a.py:5": 0.02})
		})
	}
}

// The samples of a profile stay within their bound whatever weights it states.
func TestProfileBounds(t *testing.T) {
	s, err := openText(t, "a;b 999999999999999\nc;d 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Processes[0].Samples.Len(); n > maxProfileSamples+1 || n < maxProfileSamples/2 {
		t.Errorf("%d samples", n)
	}
	if _, err := openText(t, `{"$schema":"https://www.speedscope.app/file-format-schema.json","x":`+strings.Repeat("[", 1<<20)); err ==
		nil || !strings.Contains(err.Error(), "nested deeper than") {
		t.Errorf("deep nesting gives %v", err)
	}
	endless := io.MultiReader(strings.NewReader(`{"$schema":"https://www.speedscope.app/file-format-schema.json","name":"`),
		&repeated{"x", 1 << 30})
	if _, err := Open(context.Background(), []string{"-"}, Options{Stdin: endless}); err == nil ||
		!strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("a text of 1 GB gives %v", err)
	}
}

// repeated is a text over and over again.
type repeated struct {
	text string
	left int64
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), r.left))
	for i := range n {
		b[i] = r.text[i%len(r.text)]
	}
	r.left -= int64(n)
	return n, nil
}

func TestLineProfile(t *testing.T) {
	path := filepath.Join(realTraces, "line-profiler", "nerfstudio_train.lprof")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no folder of real traces beside the checkout")
	}
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := s.Calls[0].Lines[0] // as pickletools shows the file: line 372, 1000 hits, 1975284 of 1e-9 s
	if first.Line != 372 || first.Hits != 1000 || first.Time != 1975284 || first.Function != "generate_rays" {
		t.Errorf("%+v", first)
	}
	if n := len(s.Calls[0].Lines); n != 140 {
		t.Errorf("%d lines, want 140", n)
	}
}

// FuzzProfiles: no stack profile, pickle or table of any shape breaks a reader or the model.
func FuzzProfiles(f *testing.F) {
	f.Add([]byte(speedscopeText))
	f.Add([]byte("main (a.py:3);inner (b.py:7) 3\n"))
	f.Add([]byte(`{"meta":{"interval":1,"stackwalk":1},"threads":[{"samples":{"schema":{"stack":0},"data":[[0]]}}]}`))
	f.Add([]byte("\x80\x04\x8c\x09LineStats\x94\x8c\x01x\x93)\x81}(\x8c\x04unitG?\xf0\x00\x00\x00\x00\x00\x00ub."))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(text)})
		if err == nil {
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCollapsedOfCPython: Python 3.15's profiling.sampling names the thread first, and frames as file:function:line
// (Lib/profiling/sampling/stack_collector.py).
func TestCollapsedOfCPython(t *testing.T) {
	s := openRocprof(t, write(t, filepath.Join(t.TempDir(), "x"), []byte("tid:41;train.py:<module>:9;train.py:leaf:4 30\n"+
		"tid:42;threading.py:run:990;train.py:leaf:5 10\n~:<GC>:0;tid:42;x.py:f:1 1\n")))
	p := s.Processes[0]
	names := map[string]bool{}
	for _, name := range p.Samples.Threads {
		names[s.Strings.Text(name)] = true
	}
	if p.Samples.Len() != 41 || !names["tid:41"] || !names["tid:42"] {
		t.Errorf("%d samples of %v", p.Samples.Len(), names)
	}
	leaf := p.Samples.Stacks.Frames[p.Samples.Stacks.Frame[p.Samples.Stack[0]]]
	if s.Strings.Text(leaf.Function) != "leaf" || s.Strings.Text(leaf.File) != "train.py" {
		t.Errorf("%+v", leaf)
	}
}
