package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"slices"
	"strings"
	"testing"
)

// sampledSession has one file whose times are known: 60 ms on line 2 (20 of them in a library, 10 below recursion), 40 ms
// on line 4 of which none hold the GIL, 100 ms idle in line 6, and a second file in another process of rank 1.
func sampledSession() *model.Session {
	at := func(file, function string, first, line int) testkit.Frame {
		return testkit.Frame{File: file, Function: function, First: first, Line: line}
	}
	main, work, wait := at("/home/u/train.py", "main", 5, 8), at("/home/u/train.py", "work", 1, 2), at("/home/u/train.py", "wait", 3, 4)
	library := at("/usr/lib/python3.11/json/decoder.py", "decode", 10, 12)
	p := testkit.NewProgram()
	p.P.Samples.AskedHz = 1000
	p.Do(testkit.Python(30, main, work), testkit.Python(20, main, work, library), testkit.Python(10, main, work, work),
		testkit.Blocked(40, main, wait),
		testkit.Act{Ms: 100, State: model.StateIdle, Stack: []testkit.Frame{at("/home/u/train.py", "pool", 5, 6)}})
	p.Do(testkit.Python(70, at("/s/agent/_bneck_agent/ticker.py", "loop", 1, 2))) // the agent's own thread counts for nothing
	q := p.Add(model.RoleRank, 101)
	q.P.Rank = 1
	q.Do(testkit.Python(50, at("/home/u/pkg/data.py", "load", 1, 1)))
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py",
		Lines: []string{"def work():", "\treturn decode()  # \x1b[31m", "def wait():", "    lock.acquire()", "", "pool()", "", "main()"}}
	return p.S
}

func annotated(t *testing.T, choice report.SampleChoice) (text string, row func(string) string) {
	t.Helper()
	var b strings.Builder
	if err := WriteSource(&b, sampledSession(), "/home/u/train.py", choice, TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String(), func(part string) string {
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, part) {
				return strings.Join(strings.Fields(line), " ")
			}
		}
		t.Errorf("no line with %q in\n%s", part, b.String())
		return ""
	}
}

func TestWriteSource(t *testing.T) {
	text, row := annotated(t, report.SampleChoice{})
	for part, want := range map[string]string{
		"return decode": "60.0 ms 60.0 ms 40 % ████ 2 return decode() # ·[31m",
		"lock.acquire":  "40.0 ms 40.0 ms 27 % ███ 4 lock.acquire()",
		"main()":        "- 100 ms 67 % ░░░░░░░ 8 main()",
		"pool()":        "6 pool()",
		"def work":      "1 def work():",
		"of 150 ms":     "100 ms of 150 ms below or in this file (67 %); wall time of threads that do not wait for work, 150",
	} {
		if got := row(part); got != want {
			t.Errorf("%q: %q, want %q", part, got, want)
		}
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Errorf("the program's text steers the terminal: %q", text)
	}
	_, row = annotated(t, report.SampleChoice{GIL: true})
	if got := row("lock.acquire"); got != "4 lock.acquire()" {
		t.Errorf("--gil: %q", got)
	}
	_, row = annotated(t, report.SampleChoice{Idle: true, Ranks: []int{model.NoRank}})
	if got := row("pool()"); got != "100 ms 100 ms 50 % █████ 6 pool()" {
		t.Errorf("--idle: %q", got)
	}
}

// Without the text, and with lines that it lacks, every sampled line is still there.
func TestWriteSourceWithoutText(t *testing.T) {
	s := sampledSession()
	for _, lines := range [][]string{nil, {"def work():"}} {
		delete(s.Sources, "/home/u/train.py")
		if lines != nil {
			s.Sources["/home/u/train.py"] = &model.Source{Lines: lines}
		}
		var b strings.Builder
		if err := WriteSource(&b, s, "/home/u/train.py", report.SampleChoice{}, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"60.0 ms", "40.0 ms", " 8"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}

func TestSourceFile(t *testing.T) {
	s := sampledSession()
	for name, want := range map[string]string{"train.py": "/home/u/train.py", "./train.py": "/home/u/train.py",
		"u/train.py": "/home/u/train.py", "/home/u/train.py": "/home/u/train.py", "data.py": "/home/u/pkg/data.py",
		"json/decoder.py": "/usr/lib/python3.11/json/decoder.py", "rain.py": "", "": ""} {
		if got, _ := SourceFile(s, name, report.SampleChoice{}); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if _, near := SourceFile(s, "trian.py", report.SampleChoice{}); len(near) != 3 || near[0] != "/home/u/train.py" {
		t.Errorf("near trian.py: %v", near)
	}
	s.Sources["/home/u/pkg/train.py"] = &model.Source{}
	if got, _ := SourceFile(s, "train.py", report.SampleChoice{}); got != "/home/u/train.py" {
		t.Errorf("of two files the sampled one is meant, not %q", got)
	}
	s.Sources["/x/a.py"], s.Sources["/y/a.py"] = &model.Source{}, &model.Source{}
	if got, near := SourceFile(s, "a.py", report.SampleChoice{}); got != "" || !slices.Equal(near, []string{"/x/a.py", "/y/a.py"}) {
		t.Errorf("a.py: %q, %v", got, near)
	}
	both := testkit.NewProgram()
	both.Do(testkit.Python(20, testkit.Frame{File: "/home/u/server.py", Function: "answer", First: 1, Line: 2},
		testkit.Frame{File: "/usr/lib/python3.11/http/server.py", Function: "handle", First: 10, Line: 12}))
	if got, near := SourceFile(both.S, "server.py", report.SampleChoice{}); got != "/home/u/server.py" {
		t.Errorf("the program's own server.py is meant, not %q %v", got, near)
	}
}

func TestWriteSamples(t *testing.T) {
	s := sampledSession()
	var b strings.Builder
	if err := WriteSamples(&b, s, report.SampleChoice{GIL: true}, TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"held the GIL, 110 samples of 2 threads in 2 processes",
		"50.0 ms 50.0 ms 45 % █████ load (/home/u/pkg/data.py:1)", "40.0 ms 60.0 ms 55 % ████░ work (/home/u/train.py:1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(text, "wait (") || strings.Contains(text, "pool (") {
		t.Errorf("threads without the GIL count:\n%s", b.String())
	}
}

// Damaged columns and stacks neither panic nor loop.
func TestSamplesHostile(t *testing.T) {
	s := sampledSession()
	sm := &s.Processes[0].Samples
	sm.Stack[0], sm.Stacks.Parent[0], sm.Flags = 1<<30, 0, sm.Flags[:50]
	sm.AskedHz, sm.AchievedHz = -1, 1e300
	for _, write := range []func(*strings.Builder) error{
		func(b *strings.Builder) error { return WriteSamples(b, s, report.SampleChoice{}, TextOptions{}) },
		func(b *strings.Builder) error {
			return WriteSource(b, s, "/home/u/train.py", report.SampleChoice{Idle: true}, TextOptions{})
		},
	} {
		var b strings.Builder
		if err := write(&b); err != nil || b.Len() == 0 {
			t.Errorf("%v, %q", err, b.String())
		}
	}
}

// TestWriteSamplesWithoutGIL: of an interpreter that has no GIL, the threads that run Python count in its stead.
func TestWriteSamplesWithoutGIL(t *testing.T) {
	p := testkit.NewProgram()
	work := []testkit.Frame{{File: "/home/u/t.py", Function: "work", First: 1, Line: 2}}
	p.Do(testkit.Act{Ms: 30, State: model.StateCPU, Flags: model.SampleAttached, Stack: work},
		testkit.Act{Ms: 70, State: model.StateCPU, Flags: model.SampleInNative,
			Stack: []testkit.Frame{{File: "/home/u/t.py", Function: "compress", First: 3, Line: 4}}})
	var b strings.Builder
	if err := WriteSamples(&b, p.S, report.SampleChoice{GIL: true}, TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "ran Python (the interpreter has no GIL)") || !strings.Contains(text, "work (") ||
		strings.Contains(text, "compress (") {
		t.Error(text)
	}
}
