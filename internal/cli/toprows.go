package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// render draws the screen: at most height lines of at most width columns.
func (s *topState) render(width, height int) []string {
	lines := append([]string{s.title()}, s.rows()...)
	if limit := max(height-1, 1); len(lines) > limit {
		lines = lines[:limit]
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	foot := "q quit  p pause  s sort  c CPU  f funcs  l lines  t threads  P procs  / search"
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

// rows are the table of the chosen view, its header first.
func (s *topState) rows() []string {
	switch s.mode {
	case topThreads:
		return s.threadRows(&s.shown)
	case topProcesses:
		return s.processRows(&s.shown)
	}
	return s.placeRows(&s.shown)
}

func (s *topState) title() string {
	w := &s.shown
	pause := ""
	if s.paused {
		pause = "PAUSED  "
	}
	if s.looks == 0 {
		return fmt.Sprintf("%stop %d: looking for Python code", pause, s.pid)
	}
	if len(w.processes) == 0 {
		return fmt.Sprintf("%stop %d: no Python code was seen to run", pause, s.pid)
	}
	cpu := int64(0)
	for _, p := range w.processes {
		cpu += p.cpu
	}
	return fmt.Sprintf("%stop %d: %s, %s on %.2f cores, %s", pause, s.pid, counted(len(w.processes), "process", "processes"),
		counted(len(w.threads), "thread", "threads"), s.ofLooks(cpu), s.lockText(w))
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ofLooks is how many of something there were at a time: 1 for a thread that always was.
func (s *topState) ofLooks(n int64) float64 { return float64(n) / float64(max(s.looks, 1)) }

// lockText says how long the GIL was held; of several processes, each of which has its own, in that where it was longest,
// and of subinterpreters with locks of their own on average. Interpreters without the lock have threads that run Python
// side by side.
func (s *topState) lockText(w *topWindow) string {
	with, locks, held, attached := 0, 0, int64(0), int64(0)
	for _, p := range w.processes {
		if p.gils == 0 {
			attached += p.run
			continue
		}
		with++
		locks += p.gils
		held = max(held, p.run/int64(p.gils))
	}
	switch {
	case locks == 0:
		return fmt.Sprintf("no GIL, %.2f attached", s.ofLooks(attached))
	case locks == 1:
		return fmt.Sprintf("GIL held %.0f %%", 100*s.ofLooks(held))
	case with == 1:
		return fmt.Sprintf("%d GILs held %.0f %%", locks, 100*s.ofLooks(held))
	}
	return fmt.Sprintf("GIL held up to %.0f %%", 100*s.ofLooks(held))
}

// lockColumn is the header of the column of shares in which a thread may touch Python's objects, and what stands there for
// a process of the other kind: holding the GIL is meant, unless no process of the window has one.
func (w *topWindow) lockColumn() (header string, fits func(*topProcess) bool) {
	for _, p := range w.processes {
		if p.gils > 0 {
			return "GIL", func(p *topProcess) bool { return p.gils > 0 }
		}
	}
	return "attached", func(p *topProcess) bool { return p.gils == 0 }
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
	all := w.samples
	counts := func(c *topCount) (own, total int64) { return c.own, c.total }
	if s.cpuOnly {
		all, counts = w.cpu, func(c *topCount) (own, total int64) { return c.cpuOwn, c.cpuTotal }
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.c.cpuTotal == 0 })
	}
	slices.SortFunc(rows, func(a, b row) int {
		ownA, totalA := counts(a.c)
		ownB, totalB := counts(b.c)
		x, y := cmp.Compare(ownB, ownA), cmp.Compare(totalB, totalA)
		if s.byTotal {
			x, y = y, x
		}
		return cmp.Or(x, y, cmp.Compare(a.p.file, b.p.file), cmp.Compare(a.p.line, b.p.line), cmp.Compare(a.p.function, b.p.function))
	})
	out := []string{s.placeHeader()}
	for _, r := range rows {
		place := fmt.Sprintf("%s (%s)", r.p.function, shortFile(r.p.file))
		if r.p.line != 0 { // the line must not be cut off behind a long name
			place = fmt.Sprintf("%s:%d (%s)", shortFile(r.p.file), r.p.line, r.p.function)
		}
		own, total := counts(r.c)
		n := float64(max(all, 1))
		out = append(out, fmt.Sprintf("%5.1f %% %6.1f %%  %s", 100*float64(own)/n, 100*float64(total)/n, place))
	}
	return out
}

// placeHeader names the columns of functions and lines, by what they are sorted, and whose time they share.
func (s *topState) placeHeader() string {
	own, total := "own ▼", "total"
	if s.byTotal {
		own, total = "own", "total ▼"
	}
	what, of := "function", "of the time of threads that do not wait for work"
	if s.mode == topLines {
		what = "line"
	}
	if s.cpuOnly {
		of = "of the time on a processor"
	}
	return fmt.Sprintf("%7s %8s  %s (%s)", own, total, what, of)
}

func (s *topState) threadRows(w *topWindow) []string {
	var keys []topThread
	for k, t := range w.threads {
		if s.matches(fmt.Sprintf("%d %s %s %s", k.pid, roleText(w.processes[k.pid]), t.name, t.leaf.function)) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b topThread) int {
		x, y := w.threads[a], w.threads[b]
		return cmp.Or(cmp.Compare(y.cpu, x.cpu), cmp.Compare(y.run, x.run), cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid))
	})
	lock, fits := w.lockColumn()
	out := []string{fmt.Sprintf("%7s %7s %-8s %5s %*s %5s  %s", "PID", "TID", "role", "CPU", max(5, len(lock)), lock,
		"waits", "thread: now in")}
	for _, k := range keys {
		t, p := w.threads[k], w.processes[k.pid]
		n := float64(max(t.samples, 1))
		share, waits := "-", "-"
		if fits(p) {
			share = fmt.Sprintf("%.0f %%", 100*float64(t.run)/n)
		}
		if p.gils > 0 {
			waits = fmt.Sprintf("%.0f %%", 100*float64(t.wait)/n)
		}
		out = append(out, fmt.Sprintf("%7d %7d %-8s %3.0f %% %*s %5s  %s: %s:%d %s", k.pid, k.tid, roleText(p), 100*float64(t.cpu)/n,
			max(5, len(lock)), share, waits, t.name, filepath.Base(t.leaf.file), t.leaf.line, t.leaf.function))
	}
	return out
}

// processRows are the processes of the tree: cores that their Python threads use, and their GIL.
func (s *topState) processRows(w *topWindow) []string {
	threads := map[int]int{}
	for k := range w.threads {
		threads[k.pid]++
	}
	pids := slices.SortedFunc(maps.Keys(w.processes), func(a, b int) int {
		x, y := w.processes[a], w.processes[b]
		return cmp.Or(cmp.Compare(y.cpu, x.cpu), cmp.Compare(y.run, x.run), cmp.Compare(a, b))
	})
	lock, fits := w.lockColumn()
	out := []string{fmt.Sprintf("%8s %-8s %6s %8s %7s  %s", "PID", "role", "cores", lock, "threads", "command")}
	for _, pid := range pids {
		p := w.processes[pid]
		command := commandText(p.Args)
		if !s.matches(fmt.Sprintf("%d %s %s", pid, roleText(p), command)) {
			continue
		}
		share := "-"
		switch {
		case fits(p) && p.gils == 0:
			share = fmt.Sprintf("%.2f", s.ofLooks(p.run))
		case fits(p):
			share = fmt.Sprintf("%.0f %%", 100*s.ofLooks(p.run)/float64(p.gils))
		}
		out = append(out, fmt.Sprintf("%8d %-8s %6.2f %8s %7d  %s", pid, roleText(p), s.ofLooks(p.cpu), share, threads[pid], command))
	}
	return out
}

// commandText is a command line as a row shows it: the program and the script by their last parts.
func commandText(args []string) string {
	short := slices.Clone(args)
	for i := range short {
		if strings.HasPrefix(short[i], "/") && i < 2 {
			short[i] = filepath.Base(short[i])
		}
	}
	return strings.Join(short, " ")
}

// roleText is what a process is for: the number of its rank, or of the worker.
func roleText(p *topProcess) string {
	switch {
	case p == nil:
		return ""
	case p.Role == model.RoleWorker && p.WorkerIndex >= 0:
		return fmt.Sprintf("worker %d", p.WorkerIndex)
	case p.Rank != model.NoRank && p.Role == model.RoleRank:
		return fmt.Sprintf("rank %d", p.Rank)
	}
	return string(p.Role)
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
	runes := []rune(view.Printable(line))
	if len(runes) > width {
		runes = append(runes[:max(width-1, 0)], '…')
	}
	return string(runes)
}
