package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	topModes
)

// topState is all that top knows: the samples of the current window by place and thread, and what the user chose.
type topState struct {
	pid     int
	hz      float64
	mode    topMode
	byTotal bool
	paused  bool
	filter  string
	typing  bool // the filter is being typed
	now     topWindow
	shown   topWindow
	seconds float64 // length of the shown window
}

// topWindow counts samples.
type topWindow struct {
	samples   int64 // of threads that were not idle
	gil       int64 // of those that hold the GIL
	places    map[topPlace]*topCount
	threads   map[topThread]*topThreadCount
	processes map[int]record.SampleProcess
}

// topPlace is a function (Line 0) or a line.
type topPlace struct {
	function, file string
	line           int32
}

type topCount struct {
	own, total int64
}

type topThread struct {
	pid int
	tid int32
}

type topThreadCount struct {
	name                            string
	samples, cpu, gil, wait, asleep int64
	leaf                            topPlace
}

func newTopWindow() topWindow {
	return topWindow{places: map[topPlace]*topCount{}, threads: map[topThread]*topThreadCount{},
		processes: map[int]record.SampleProcess{}}
}

// add counts one sample. Functions and lines are counted together: a line's place has its number. A function that
// stands in a stack several times counts once.
func (w *topWindow) add(s *collect.LiveSample) {
	w.processes[s.PID] = s.Process
	key := topThread{s.PID, s.Thread}
	t := w.threads[key]
	if t == nil {
		t = &topThreadCount{name: s.Name}
		w.threads[key] = t
	}
	t.samples++
	if s.Flags&model.SampleHoldsGIL != 0 {
		t.gil++
		w.gil++
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
	case model.StateGILWait:
		t.wait++
	case model.StateIdle:
		t.asleep++
		return // threads that wait for work would hide those that do some
	}
	w.samples++
	seen := map[topPlace]bool{}
	for i := range s.Frames {
		f := &s.Frames[i]
		for line, p := range [2]topPlace{{f.Function, f.File, 0}, {f.Function, f.File, max(f.Line, 1)}} {
			if line == 1 && f.Native {
				continue
			}
			c := w.places[p]
			if c == nil {
				c = &topCount{}
				w.places[p] = c
			}
			if i == 0 || line == 1 && i == leaf {
				c.own++
			}
			if !seen[p] {
				seen[p] = true
				c.total++
			}
		}
	}
}

// turn makes the running window the shown one.
func (s *topState) turn(seconds float64) {
	if !s.paused {
		s.shown, s.seconds = s.now, seconds
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
	case '\t', 'v':
		s.mode = (s.mode + 1) % topModes
	case 'f':
		s.mode = topFunctions
	case 'l':
		s.mode = topLines
	case 't':
		s.mode = topThreads
	case '/':
		s.typing, s.filter = true, ""
	}
	return false
}

// render draws the screen: at most height lines of at most width columns.
func (s *topState) render(width, height int) []string {
	w := &s.shown
	lines := []string{s.title()}
	if s.mode == topThreads {
		lines = append(lines, s.threadRows(w)...)
	} else {
		lines = append(lines, s.placeRows(w)...)
	}
	if limit := max(height-1, 1); len(lines) > limit {
		lines = lines[:limit]
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	foot := "q quit  p pause  s sort  f functions  l lines  t threads  / search"
	if s.typing {
		foot = "search: " + s.filter + "_"
	} else if s.filter != "" {
		foot = "search: " + s.filter + "  (/ then Esc clears)"
	}
	lines = append(lines, foot)
	for i := range lines {
		lines[i] = cutColumns(lines[i], width)
	}
	return lines
}

func (s *topState) title() string {
	w := &s.shown
	cpu := int64(0)
	for _, t := range w.threads {
		cpu += t.cpu
	}
	cores, gil := 0.0, 0.0
	if ticks := s.hz * s.seconds; ticks > 0 {
		cores, gil = float64(cpu)/ticks, float64(w.gil)/ticks
	}
	pause := ""
	if s.paused {
		pause = "  PAUSED"
	}
	return fmt.Sprintf("bottleneck top %d: %d process%s, %d threads on %.2f cores, GIL held %.0f %%%s", s.pid,
		len(w.processes), map[bool]string{false: "es"}[len(w.processes) == 1], len(w.threads), cores, 100*gil, pause)
}

func (s *topState) placeRows(w *topWindow) []string {
	type row struct {
		p topPlace
		c *topCount
	}
	var rows []row
	for p, c := range w.places {
		if (p.line != 0) == (s.mode == topLines) && s.matches(p.function+" "+p.file) {
			rows = append(rows, row{p, c})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		x, y := b.c.own-a.c.own, b.c.total-a.c.total
		if s.byTotal {
			x, y = y, x
		}
		switch {
		case x != 0:
			return int(x)
		case y != 0:
			return int(y)
		}
		return strings.Compare(fmt.Sprint(a.p), fmt.Sprint(b.p))
	})
	own, total := "own ▼", "total"
	if s.byTotal {
		own, total = "own", "total ▼"
	}
	out := []string{fmt.Sprintf("%7s %8s  %s", own, total, map[bool]string{true: "line", false: "function"}[s.mode == topLines])}
	for _, r := range rows {
		place := shortFile(r.p.file)
		if r.p.line != 0 {
			place = fmt.Sprintf("%s:%d", place, r.p.line)
		}
		n := float64(max(w.samples, 1))
		out = append(out, fmt.Sprintf("%5.1f %% %6.1f %%  %s (%s)", 100*float64(r.c.own)/n, 100*float64(r.c.total)/n, r.p.function, place))
	}
	return out
}

func (s *topState) threadRows(w *topWindow) []string {
	var keys []topThread
	for k, t := range w.threads {
		if s.matches(t.name + " " + t.leaf.function) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b topThread) int {
		x, y := w.threads[b].cpu-w.threads[a].cpu, w.threads[b].gil-w.threads[a].gil
		if x != 0 {
			return int(x)
		}
		if y != 0 {
			return int(y)
		}
		if a.pid != b.pid {
			return a.pid - b.pid
		}
		return int(a.tid - b.tid)
	})
	out := []string{fmt.Sprintf("%8s %8s %-8s %6s %6s %6s  %s", "PID", "TID", "role", "CPU", "GIL", "waits", "thread, now in")}
	for _, k := range keys {
		t := w.threads[k]
		p := w.processes[k.pid]
		role := string(p.Role)
		if p.Rank != model.NoRank {
			role = fmt.Sprintf("rank %d", p.Rank)
		}
		n := float64(max(t.samples, 1))
		out = append(out, fmt.Sprintf("%8d %8d %-8s %4.0f %% %4.0f %% %4.0f %%  %s, %s (%s:%d)", k.pid, k.tid, role, 100*float64(t.cpu)/n,
			100*float64(t.gil)/n, 100*float64(t.wait)/n, t.name, t.leaf.function, shortFile(t.leaf.file), t.leaf.line))
	}
	return out
}

func (s *topState) matches(text string) bool {
	return s.filter == "" || strings.Contains(strings.ToLower(text), strings.ToLower(s.filter))
}

// shortFile is the last two parts of a path.
func shortFile(file string) string {
	dir, base := filepath.Split(file)
	if parent := filepath.Base(filepath.Clean(dir)); dir != "" && parent != "." && parent != "/" {
		return parent + "/" + base
	}
	return base
}

// cutColumns cuts a line to a width in code points, and takes control characters out: names come from the program.
func cutColumns(line string, width int) string {
	runes := []rune(line)
	for i, r := range runes {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			runes[i] = '?'
		}
	}
	if len(runes) > width {
		runes = append(runes[:max(width-1, 0)], '…')
	}
	return string(runes)
}
