package cli

import (
	"strings"
	"testing"

	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

func topSamples() *topState {
	s := &topState{pid: 7, hz: 100, now: newTopWindow(), shown: newTopWindow()}
	leaf := record.SampleFrame{Function: "lea\x1b[31mf", File: "/long/path/to/a.py", First: 1, Line: 3}
	main := record.SampleFrame{Function: "main", File: "/long/path/to/a.py", First: 9, Line: 12}
	for i := range 100 {
		l := collect.LiveSample{PID: 7, Process: record.SampleProcess{Rank: model.NoRank, Role: model.RoleMain}, Thread: 7,
			Name: "MainThread", State: model.StateCPU, Flags: model.SampleHoldsGIL, Frames: []record.SampleFrame{main, main}}
		if i < 60 {
			l.Frames = []record.SampleFrame{leaf, main, main}
		}
		s.now.add(&l)
		idle := l
		idle.Thread, idle.State, idle.Flags = 8, model.StateIdle, 0
		s.now.add(&idle)
	}
	s.turn(1)
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
	for _, want := range []string{"60.0 %   60.0 %  lea?[31mf (to/a.py)", "40.0 %  100.0 %  main (to/a.py)", "1.00 cores", "GIL held 100 %"} {
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
	for _, k := range []byte("/\x1blt\tp") {
		if s.key(k) {
			t.Errorf("key %q quits", k)
		}
	}
	if s.filter != "" || s.mode != topFunctions || !s.paused {
		t.Errorf("state %+v", s)
	}
	s.turn(1)
	if s.shown.samples == 0 {
		t.Error("a paused picture changed")
	}
	if !s.key('q') {
		t.Error("q does not quit")
	}
}
