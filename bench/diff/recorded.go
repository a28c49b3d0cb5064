//go:build linux

package main

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// loop computes for a fifth of a second; its argument is a share of that to sleep on top.
const loop = `import sys, time

share = float(sys.argv[1])
for _ in range(50):
    began = time.perf_counter()
    total = 0
    for number in range(40_000):
        total += number
    time.sleep((time.perf_counter() - began) * share)
`

// recorded compares sides of runs that were recorded in turns, so that drift of the machine meets both.
func (m *measurement) recorded() error {
	script := filepath.Join(m.work, "loop.py")
	if err := os.WriteFile(script, []byte(loop), 0o600); err != nil {
		return err
	}
	var equal, slower []compare.Run
	for i := range m.runs {
		r, err := m.record(fmt.Sprint("loop-", i), "--no-trace", "--", "python3", script, "0")
		if err != nil {
			return err
		}
		equal = append(equal, r)
		if i%2 == 0 {
			if r, err = m.record(fmt.Sprint("slow-", i), "--no-trace", "--", "python3", script, "0.06"); err != nil {
				return err
			}
			slower = append(slower, r)
		}
	}
	m.pairsOf("without PyTorch", equal)
	m.found(equal, slower)
	var torch []compare.Run
	for i := range m.torch {
		r, err := m.record(fmt.Sprint("torch-", i), "--", m.python, filepath.Join("testdata", "diff", "train.py"))
		if err != nil {
			return err
		}
		torch = append(torch, r)
	}
	if len(torch) >= 8 {
		m.pairsOf("with PyTorch", torch)
	}
	return nil
}

// record runs a program and reads its report document.
func (m *measurement) record(name string, command ...string) (compare.Run, error) {
	session := filepath.Join(m.work, name)
	if _, _, err := m.bottleneck(append([]string{"run", "--out", session, "-o", os.DevNull}, command...)...); err != nil {
		return compare.Run{}, err
	}
	text, _, err := m.bottleneck("report", "--json", "-", session)
	if err != nil {
		return compare.Run{}, err
	}
	r := &report.Report{}
	return compare.Run{Report: r}, json.Unmarshal([]byte(text), r)
}

// pairsOf compares neighbours: runs that were recorded one after the other are dealt to two sides in turn, and at random within each two.
func (m *measurement) pairsOf(what string, runs []compare.Run) {
	r := rand.New(rand.NewPCG(3, 4))
	different, rows, tested := 0, 0, 0
	for range m.pairs {
		n := 4 + r.IntN(max(min(len(runs)/2, 8)-3, 1))
		from := r.IntN(len(runs) - 2*n + 1)
		var sides [2]compare.Side
		for i := range n {
			x := r.IntN(2)
			sides[x].Runs = append(sides[x].Runs, runs[from+2*i])
			sides[1-x].Runs = append(sides[1-x].Runs, runs[from+2*i+1])
		}
		if d, err := compare.Diff(sides[0], sides[1], compare.Options{}); err == nil {
			different += decided(d)
			x, y := differentRows(d)
			rows, tested = rows+x, tested+y
		}
	}
	m.say(fmt.Sprintf("A/A, %d pairs of 4 to 8 of %d recorded runs %s: called different", m.pairs, len(runs), what),
		percent(different, m.pairs), "≤ 1 %", 100*different <= m.pairs)
	m.say(fmt.Sprintf("  rows called different, of %d", tested), percent(rows, tested), "≤ 1 %", 100*rows <= tested)
}

// found says how often the planted sleep is found; what it adds to a run is measured by all of them.
func (m *measurement) found(equal, slower []compare.Run) {
	if len(slower) < 8 {
		return
	}
	r := rand.New(rand.NewPCG(5, 6))
	wall := func(runs []compare.Run) []float64 {
		var out []float64
		for _, r := range runs {
			out = append(out, r.Report.Run.WallS)
		}
		slices.Sort(out)
		return out
	}
	a, b := wall(equal), wall(slower)
	_, variance := stats.MeanVariance(a)
	plant, spread := stats.Quantile(b, 0.5)/stats.Quantile(a, 0.5)-1, math.Sqrt(variance)/stats.Quantile(a, 0.5)
	found := 0
	for range m.pairs {
		var sides [2]compare.Side
		for _, i := range r.Perm(len(slower))[:8] {
			sides[0].Runs, sides[1].Runs = append(sides[0].Runs, equal[2*i]), append(sides[1].Runs, slower[i])
		}
		if d, err := compare.Diff(sides[0], sides[1], compare.Options{Anyway: true}); err == nil && d.Verdict == report.Slower {
			found++
		}
	}
	what := fmt.Sprintf("planted sleep of %.1f %% of a run, 8 recorded runs a side, which spread by %.1f %% (standard deviation): found",
		100*plant, 100*spread)
	if spread > mostSpread {
		m.note(what, percent(found, m.pairs), "(the machine is too busy for a goal)")
		return
	}
	m.say(what, percent(found, m.pairs), "≥ 95 %", 100*found >= 95*m.pairs)
}

// mostSpread is the spread of runs up to which a planted sleep must be found.
const mostSpread = 0.015

// plants are the programs of testdata/diff with what each differs by from which. Counters are exact in short runs, too; rows of lines and
// functions hold times of samples, so that those of moved functions are compared in runs of more steps.
var plants = []struct{ before, after, flags, steps, counter string }{
	{"train", "item", "", "", "aten::item"}, {"train", "clone", "", "", "aten::clone"}, {"compiled", "break", "", "", "graph-breaks"},
	{"train", "open", "--calls", "", "<built-in method _io.open>"}, {"train", "moved", "", "12000", ""},
}

// planted looks for planted lines with one run a side.
func (m *measurement) planted() error {
	for _, p := range plants {
		before, err := m.program(p.before, p.flags, p.steps)
		if err != nil {
			return err
		}
		after, err := m.program(p.after, p.flags, p.steps)
		if err != nil {
			return err
		}
		text, _, err := m.bottleneck("diff", "--json", "-", before, after)
		if err != nil {
			return err
		}
		var d report.Diff
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			return err
		}
		different, named := 0, ""
		for i := range d.Counters {
			if c := &d.Counters[i]; c.Different {
				different++
				if (c.Name == p.counter || c.Kind == p.counter) && c.Where != nil && strings.HasSuffix(c.Text, "# planted") {
					named = fmt.Sprintf("line %d", c.Where.Line)
				}
			}
		}
		if p.counter == "" {
			m.say("functions moved and renamed, one run a side: counters that differ", fmt.Sprint(different), "0", different == 0)
			lonely := withoutCounterpart(&d)
			m.say("  lines and functions of the program that only one side has", fmt.Sprint(lonely), "0", lonely == 0)
			continue
		}
		m.say(fmt.Sprintf("one more %s a step (%s.py), one run a side: found and its line named", p.counter, p.after), named,
			"its line", named != "")
	}
	return nil
}

// noticed is the share of a step from which a line or function has samples on both sides if it runs on both.
const noticed = 0.05

// withoutCounterpart is how many rows of the program's own lines and functions take time on one side only: those of libraries, of which
// each has few samples, are the same ones on both.
func withoutCounterpart(d *report.Diff) (n int) {
	for i := range d.Rows {
		r := &d.Rows[i]
		if (r.Kind == "line" || r.Kind == "function") && r.Where != nil && filepath.Base(r.Where.File) == "train.py" && min(r.Before.Ms, r.After.Ms) == 0 &&
			max(r.Before.Ms, r.After.Ms) > noticed*d.Step.BeforeMs {
			n++
		}
	}
	return n
}

// movedRuns is how many runs a side have moved and renamed functions.
const movedRuns = 4

// moved compares runs of a program with runs of the same one under other names and in another order, made in turns.
func (m *measurement) moved() error {
	if m.torch < 2*movedRuns {
		return nil
	}
	names, args := [2]string{"train", "moved"}, []string{"diff", "--json", "-"}
	for i := range movedRuns {
		for k := range names {
			name := names[(k+i)%2]
			script, err := m.script(name)
			if err != nil {
				return err
			}
			if _, err := m.record(fmt.Sprintf("turn-%s-%d", name, i), "--", m.python, script); err != nil {
				return err
			}
		}
	}
	for k, name := range names {
		if k > 0 {
			args = append(args, "--")
		}
		for i := range movedRuns {
			args = append(args, filepath.Join(m.work, fmt.Sprintf("turn-%s-%d", name, i)))
		}
	}
	text, _, err := m.bottleneck(args...)
	if err != nil {
		return err
	}
	d := &report.Diff{}
	if err := json.Unmarshal([]byte(text), d); err != nil {
		return err
	}
	different, tested := differentRows(d)
	m.say(fmt.Sprintf("functions moved and renamed, %d runs a side, %s: rows called different, of %d", movedRuns, d.Verdict, tested),
		fmt.Sprint(different), "0", different == 0)
	return nil
}

// program records a program of testdata/diff with so many steps, or as many as it says, once, under the name train.py.
func (m *measurement) program(name, flags, steps string) (string, error) {
	session := filepath.Join(m.work, name+flags+steps)
	if _, err := os.Stat(session); err == nil {
		return session, nil
	}
	script, err := m.script(name)
	if err != nil {
		return "", err
	}
	args := append([]string{"run", "--out", session, "-o", os.DevNull}, strings.Fields(flags)...)
	args = append(args, "--", m.python, script)
	_, _, err = m.bottleneck(append(args, strings.Fields(steps)...)...)
	return session, err
}

// script writes a program of testdata/diff as train.py into a folder of its own.
func (m *measurement) script(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "diff", name+".py"))
	if err != nil {
		return "", err
	}
	script := filepath.Join(m.work, "programs", name, "train.py")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(script, text, 0o600); err != nil {
		return "", err
	}
	return script, nil
}
