package cli

import (
	"strings"
	"testing"

	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

func topSamples() *topState {
	s := &topState{pid: 7, now: newTopWindow(), shown: newTopWindow()}
	leaf := record.SampleFrame{Function: "lea\x1b[31mf", File: "/long/path/to/a.py", First: 1, Line: 3}
	main := record.SampleFrame{Function: "main", File: "/long/path/to/a.py", First: 9, Line: 12}
	for i := range 100 {
		l := collect.LiveSample{PID: 7, Process: record.SampleProcess{Rank: model.NoRank, Role: model.RoleMain}, Thread: 7,
			Name: "MainThread", State: model.StateCPU, GILs: 1, Flags: model.SampleHoldsGIL, Frames: []record.SampleFrame{main, main}}
		if i < 60 {
			l.Frames = []record.SampleFrame{leaf, main, main}
		}
		s.now.add(&l)
		idle := l
		idle.Thread, idle.State, idle.Flags = 8, model.StateIdle, 0
		s.now.add(&idle)
	}
	s.turn(100)
	return s
}

// TestTopRender draws at 80 × 24 and reads the picture; names from the program cannot control the terminal.
func TestTopRender(t *testing.T) {
	s := topSamples()
	for mode := topFunctions; mode < topModes; mode++ {
		s.mode = mode
		lines := s.render(80, 24)
		if len(lines) != 24 {
			t.Errorf("%d lines", len(lines))
		}
		for _, l := range lines {
			if len([]rune(l)) > 80 || strings.ContainsRune(l, '\x1b') {
				t.Errorf("line %q", l)
			}
		}
	}
	s.mode = topFunctions
	text := strings.Join(s.render(80, 24), "\n")
	for _, want := range []string{"60.0 %   60.0 %  lea·[31mf (to/a.py)", "40.0 %  100.0 %  main (to/a.py)",
		"1.00 cores", "GIL held 100 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestTopKeys applies every key.
func TestTopKeys(t *testing.T) {
	s := topSamples()
	first := func() string { return strings.Fields(s.render(80, 24)[2])[4] }
	if first() == "main" {
		t.Error("by own time lea… stands first")
	}
	s.key('s')
	if first() != "main" {
		t.Errorf("by total time %s stands first", first())
	}
	for _, k := range []byte("/mai\r") {
		s.key(k)
	}
	if n := strings.Count(strings.Join(s.render(80, 24), "\n"), "a.py"); n != 1 {
		t.Errorf("search left %d rows", n)
	}
	s.key('/')
	s.key(27)
	s.key('c')
	if text := strings.Join(s.render(80, 24), "\n"); !s.cpuOnly || !strings.Contains(text, "of the time on a processor") {
		t.Errorf("time on a processor only:\n%s", text)
	}
	for _, k := range []byte("/\x1bPlt\t\tpc") {
		if s.key(k) {
			t.Errorf("key %q quits", k)
		}
	}
	if s.filter != "" || s.mode != topFunctions || !s.paused {
		t.Errorf("state %+v", s)
	}
	s.turn(100)
	if s.shown.samples == 0 {
		t.Error("a paused picture changed")
	}
	if !s.key('q') {
		t.Error("q does not quit")
	}
}

// sampleOf gives one sample of a thread that runs Python code.
func sampleOf(pid int, tid int32, flags uint8, gils int) collect.LiveSample {
	return collect.LiveSample{PID: pid, Process: record.SampleProcess{PID: pid, Rank: model.NoRank, Role: model.RoleMain,
		Args: []string{"/opt/bin/python3", "/home/u/t.py"}},
		Thread: tid, Name: "t", State: model.StateCPU, Flags: flags, GILs: gils,
		Frames: []record.SampleFrame{{Function: "f", File: "/a/t.py", Line: 1}}}
}

// TestTopWithoutGIL: where there is no lock, the share of threads that run Python stands in its place; a process that has
// one keeps it.
func TestTopWithoutGIL(t *testing.T) {
	s := &topState{pid: 7, now: newTopWindow(), shown: newTopWindow()}
	fill := func(noGIL bool) {
		for i := range 100 {
			flags := uint8(0)
			if i < 75 {
				flags = model.SampleAttached
			}
			for tid := range int32(2) {
				l := sampleOf(7, tid+7, flags, 0)
				s.now.add(&l)
			}
			if !noGIL && i < 40 {
				l := sampleOf(9, 9, model.SampleHoldsGIL, 1)
				s.now.add(&l)
			}
		}
		s.turn(100)
	}
	fill(true)
	s.mode = topThreads
	text := strings.Join(s.render(80, 24), "\n")
	expect(t, "threads", text, "2 threads on 2.00 cores, no GIL, 1.50 attached", " CPU attached waits", "100 %     75 %     -  t: t.py:1 f")
	s.mode = topProcesses
	expect(t, "processes", strings.Join(s.render(80, 24), "\n"), "  2.00     1.50       2  python3 t.py")
	fill(false)
	s.mode = topThreads
	text = strings.Join(s.render(80, 24), "\n")
	expect(t, "threads of both kinds", text, "3 threads on 2.40 cores, GIL held 40 %", " CPU   GIL waits", "100 %     -     -  t: t.py:1 f",
		"100 % 100 %   0 %  t: t.py:1 f")
	if strings.Contains(text, "attached") {
		t.Errorf("attached threads where a lock is shown:\n%s", text)
	}
}

// TestTopProcesses shows each process of a tree with its own GIL.
func TestTopProcesses(t *testing.T) {
	s := &topState{pid: 7, mode: topProcesses, now: newTopWindow(), shown: newTopWindow()}
	for i := range 100 {
		main := sampleOf(7, 7, model.SampleHoldsGIL, 1)
		worker := sampleOf(8, 8, model.SampleHoldsGIL, 1)
		worker.Process.Role, worker.Process.WorkerIndex = model.RoleWorker, 3
		if s.now.add(&main); i < 50 {
			s.now.add(&worker)
		}
	}
	s.turn(100)
	lines := s.render(80, 24)
	expect(t, "processes", strings.Join(lines, "\n"), "top 7: 2 processes, 2 threads on 1.50 cores, GIL held up to 100 %",
		"       7 main       1.00    100 %       1  python3 t.py", "       8 worker 3   0.50     50 %       1")
	for _, k := range []byte("/worker\r") {
		s.key(k)
	}
	if text := strings.Join(s.render(80, 24), "\n"); strings.Contains(text, " main ") || !strings.Contains(text, "worker 3") {
		t.Errorf("search for a role:\n%s", text)
	}
}

// TestTopOnProcessor leaves out what sleeps, and counts the locks of subinterpreters each for itself.
func TestTopOnProcessor(t *testing.T) {
	s := &topState{pid: 7, now: newTopWindow(), shown: newTopWindow()}
	for range 100 {
		runs, sleeps := sampleOf(7, 7, model.SampleHoldsGIL, 2), sampleOf(7, 8, 0, 2)
		sleeps.State, sleeps.Frames = model.StateBlocked, []record.SampleFrame{{Function: "sleeping", File: "/a/t.py", Line: 9}}
		other := sampleOf(7, 9, model.SampleHoldsGIL, 2)
		for _, l := range []*collect.LiveSample{&runs, &sleeps, &other} {
			s.now.add(l)
		}
	}
	s.turn(100)
	text := strings.Join(s.render(80, 24), "\n")
	expect(t, "wall time", text, "2 GILs held 100 %", " 66.7 %   66.7 %  f (a/t.py)", " 33.3 %   33.3 %  sleeping (a/t.py)")
	s.key('c')
	text = strings.Join(s.render(80, 24), "\n")
	expect(t, "time on a processor", text, "100.0 %  100.0 %  f (a/t.py)")
	if strings.Contains(text, "sleeping") {
		t.Errorf("what sleeps is listed:\n%s", text)
	}
}
