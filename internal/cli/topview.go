package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// topMode is what the rows of top are.
type topMode int

const (
	topFunctions topMode = iota
	topLines
	topThreads
	topProcesses
	topModes
)

// topState is all that top knows: the samples of the current window by place and thread, and what the user chose.
type topState struct {
	pid     int
	mode    topMode
	byTotal bool
	cpuOnly bool // threads that sleep or wait do not count
	paused  bool
	filter  string
	typing  bool // the filter is being typed
	now     topWindow
	shown   topWindow
	looks   int64 // how often every thread was looked at in the shown window
}

// topWindow counts samples.
type topWindow struct {
	samples   int64 // of threads that were not idle
	cpu       int64 // of those on a processor
	places    map[topPlace]*topCount
	threads   map[topThread]*topThreadCount
	processes map[int]*topProcess
}

// topProcess counts the samples of a process: those on a processor, and those that hold the GIL, or, in an interpreter
// without one, that are attached to it.
type topProcess struct {
	record.SampleProcess
	gils     int // its locks: none, one, or one of each subinterpreter
	cpu, run int64
}

// topPlace is a function (Line 0) or a line.
type topPlace struct {
	function, file string
	line           int32
}

// topCount counts samples with a place innermost and anywhere, in all and of threads on a processor.
type topCount struct {
	own, total, cpuOwn, cpuTotal int64
}

type topThread struct {
	pid int
	tid int32
}

// topThreadCount counts the samples of a thread. run are those in which it holds the GIL or, without one, is attached.
type topThreadCount struct {
	name                    string
	samples, cpu, run, wait int64
	leaf                    topPlace
}

func newTopWindow() topWindow {
	return topWindow{places: map[topPlace]*topCount{}, threads: map[topThread]*topThreadCount{},
		processes: map[int]*topProcess{}}
}

// add counts one sample. Functions and lines are counted together: a line's place has its number. A function that
// stands in a stack several times counts once.
func (w *topWindow) add(s *collect.LiveSample) {
	p := w.processes[s.PID]
	if p == nil {
		p = &topProcess{}
		w.processes[s.PID] = p
	}
	p.SampleProcess, p.gils = s.Process, max(p.gils, s.GILs)
	key := topThread{s.PID, s.Thread}
	t := w.threads[key]
	if t == nil {
		t = &topThreadCount{name: s.Name}
		w.threads[key] = t
	}
	t.samples++
	if s.Flags&model.SampleRunsPython != 0 {
		t.run++
		p.run++
	}
	leaf := 0 // the innermost Python frame: native ones have no lines
	for leaf < len(s.Frames)-1 && s.Frames[leaf].Native {
		leaf++
	}
	if len(s.Frames) > 0 {
		t.leaf = topPlace{s.Frames[leaf].Function, s.Frames[leaf].File, s.Frames[leaf].Line}
	}
	switch s.State {
	case model.StateCPU:
		t.cpu++
		p.cpu++
	case model.StateGILWait:
		t.wait++
	case model.StateIdle:
		return // threads that wait for work would hide those that do some
	}
	w.addPlaces(s, leaf)
}

// addPlaces counts a sample at the functions and lines of its frames; leaf is its innermost Python frame.
func (w *topWindow) addPlaces(s *collect.LiveSample, leaf int) {
	w.samples++
	cpu := int64(0)
	if s.State == model.StateCPU {
		cpu = 1
		w.cpu++
	}
	seen := map[topPlace]bool{}
	for i := range s.Frames {
		f := &s.Frames[i]
		for line, at := range [2]topPlace{{f.Function, f.File, 0}, {f.Function, f.File, max(f.Line, 1)}} {
			if line == 1 && f.Native {
				continue
			}
			c := w.places[at]
			if c == nil {
				c = &topCount{}
				w.places[at] = c
			}
			if i == 0 || line == 1 && i == leaf {
				c.own++
				c.cpuOwn += cpu
			}
			if !seen[at] {
				seen[at] = true
				c.total++
				c.cpuTotal += cpu
			}
		}
	}
}

// turn makes the running window the shown one; looks is how often every thread was looked at in it.
func (s *topState) turn(looks int64) {
	if !s.paused {
		s.shown, s.looks = s.now, looks
	}
	s.now = newTopWindow()
}

// key applies a key and says whether top ends.
func (s *topState) key(k byte) (quit bool) {
	if s.typing {
		switch {
		case k == '\r' || k == '\n' || k == 27:
			s.typing = false
			if k == 27 {
				s.filter = ""
			}
		case k == 127 || k == 8:
			if s.filter != "" {
				s.filter = s.filter[:len(s.filter)-1]
			}
		case k == 3:
			return true
		case k >= ' ' && len(s.filter) < 40:
			s.filter += string(rune(k))
		}
		return false
	}
	switch k {
	case 'q', 3:
		return true
	case 'p', ' ':
		s.paused = !s.paused
	case 's':
		s.byTotal = !s.byTotal
	case 'c':
		s.cpuOnly = !s.cpuOnly
	case '\t', 'v':
		s.mode = (s.mode + 1) % topModes
	case 'f':
		s.mode = topFunctions
	case 'l':
		s.mode = topLines
	case 't':
		s.mode = topThreads
	case 'P':
		s.mode = topProcesses
	case '/':
		s.typing, s.filter = true, ""
	}
	return false
}
