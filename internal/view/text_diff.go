package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// DiffTextOptions says how the text of a comparison looks.
type DiffTextOptions struct {
	Width int  // columns; 0 = 100
	Color bool // ANSI colours
	All   bool // every row
}

// DiffKind is a table of a comparison: its rows' kind, its title, and what a row is.
type DiffKind struct{ Kind, Title, What string }

// DiffKinds are the tables of a comparison, in their order. Titles that hold a verb are filled with the unit of times.
func DiffKinds() []DiffKind { return slices.Clone(diffKinds) }

var diffKinds = []DiffKind{
	{"part", "Parts of the %s", "part"},
	{"line", "Python lines", "line"},
	{"function", "Functions", "function"},
	{"operator", "Operators", "operator and shapes"},
	{"module", "Modules", "module"},
	{"kernel", "Kernels", "kernel"},
	{"collective", "Collectives", "collective"},
	{"wait", "Waits", "wait"},
	{"worker", "DataLoader workers", "stage"},
}

// Rows that are shown without All: the largest, and none below a share of the step.
const (
	usualDiffRows  = 8
	smallDiffShare = 0.002
)

// WriteDiff writes a comparison for a terminal or a file.
func WriteDiff(w io.Writer, d *report.Diff, opt DiffTextOptions) error {
	p := newPrinter(&report.Report{}, TextOptions{Width: opt.Width, Color: opt.Color, All: opt.All})
	p.wrapStyled(diffStyle(d), "", "  ", capital(d.Sentence))
	p.diffSides(d)
	p.diffFacts("Differs around it", d.Around)
	if d.Verdict != report.Unlike {
		p.diffCounters(d)
		for _, k := range diffKinds {
			p.diffRows(d, k)
		}
		p.diffMemory(d)
		p.diffFindings(d)
	}
	for _, n := range d.Notes {
		p.wrap("  ! ", "    ", n)
	}
	return p.writeTo(w, "comparison")
}

func capital(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

func diffStyle(d *report.Diff) style {
	switch d.Verdict {
	case report.Slower:
		return red
	case report.Faster, report.Equal:
		return green
	}
	return yellow
}

// diffSides says what was compared.
func (p *printer) diffSides(d *report.Diff) {
	for _, s := range []struct {
		name string
		side *report.DiffSide
		ms   float64
	}{{"before", &d.Before, d.Step.BeforeMs}, {"after", &d.After, d.Step.AfterMs}} {
		steps, effective, known := 0, 0.0, true
		for _, r := range s.side.Runs {
			steps += r.Count
			if known = known && r.Effective != nil; known {
				effective += *r.Effective
			}
		}
		text := fmt.Sprintf("%s a %s, %s, %s", units.Milliseconds(s.ms), d.Per, units.Counted(len(s.side.Runs), "run"), s.side.Basis)
		if d.Per != "run" {
			text = fmt.Sprintf("%s a %s, %s, %s %s", units.Milliseconds(s.ms), d.Per, units.Counted(len(s.side.Runs), "run"),
				units.Count(int64(steps)), s.side.Basis)
			if known && int(effective) < steps/2 {
				text += fmt.Sprintf(" (worth %s independent ones)", units.Count(int64(effective)))
			}
		}
		p.line("  %-6s  %s", s.name, p.paint(dim, text+": ")+s.side.Path)
	}
	p.diffTurns(d.InTurns)
}

// stoppedTexts say why no further pair was run.
var stoppedTexts = map[string]string{"decided": "stopped as soon as it was decided", "runs": "all that were asked for",
	"budget": "as many as the budget allowed", "interrupted": "until it was interrupted", "failed": "until a side failed again"}

// diffTurns says how runs in turns were made.
func (p *printer) diffTurns(t *report.DiffTurns) {
	if t == nil {
		return
	}
	text := units.Counted(t.Pairs, "pair")
	if why := stoppedTexts[t.Stopped]; why != "" {
		text += ", " + why
	}
	p.line("  %-6s  %s", "turns", p.paint(dim, text+"; the interval holds whenever one stops"))
	for _, f := range t.Failed {
		p.wrap("  ! ", "    ", "left out: "+f)
	}
}

func (p *printer) diffFacts(title string, facts []report.DiffFact) {
	if len(facts) == 0 {
		return
	}
	p.heading(title, "")
	writeTable(p, diffFactColumns, facts)
}

var diffFactColumns = []column[report.DiffFact]{
	{"", func(f *report.DiffFact) string { return f.What }, 0},
	{"before", func(f *report.DiffFact) string { return cmp.Or(f.Before, unknown) }, 0},
	{"after", func(f *report.DiffFact) string { return cmp.Or(f.After, unknown) }, rest},
}

// diffCounters are the counters that differ, and in one line those that do not.
func (p *printer) diffCounters(d *report.Diff) {
	var rows []report.DiffCount
	var same []string
	for i := range d.Counters {
		switch c := &d.Counters[i]; {
		case c.Different:
			rows = append(rows, *c)
		case c.Name == "" && c.Exact:
			same = append(same, counterName(c))
		}
	}
	if len(d.Counters) == 0 {
		return
	}
	p.heading("Counters", "exact: the same program counts the same each time")
	if n := p.rows(len(rows), 2*usualDiffRows); n > 0 {
		writeTableWith(p, counterColumns, rows[:n], counterLine)
		if n < len(rows) {
			p.line("  … and %d more: --all", len(rows)-n)
		}
	}
	if len(same) > 0 {
		p.wrap("  ", "  ", "no difference of: "+strings.Join(same, ", "))
	} else if len(rows) == 0 {
		p.line("  no difference")
	}
}

var counterColumns = []column[report.DiffCount]{
	{"differs by", func(c *report.DiffCount) string { return signedAmount(c.Difference, c.Unit) }, number},
	{"before", func(c *report.DiffCount) string { return amount(c.Before, c.Unit) }, number},
	{"after", func(c *report.DiffCount) string { return amount(c.After, c.Unit) }, number},
	{"a", func(c *report.DiffCount) string { return c.Per }, 0},
	{"counter", counterName, rest},
}

func counterName(c *report.DiffCount) string {
	return strings.TrimSpace(strings.ReplaceAll(c.Kind, "-", " ") + " " + c.Name)
}

func counterLine(c *report.DiffCount) string {
	if c.Where == nil {
		return ""
	}
	text := fmt.Sprintf("%s:%d", c.Where.File, c.Where.Line)
	if c.Text != "" {
		text += "  " + c.Text
	}
	return text + "  (" + c.Because + ")"
}

func amount(v float64, unit string) string {
	if unit == "bytes" {
		return units.Bytes(v)
	}
	if v != math.Trunc(v) {
		return units.Digits(v)
	}
	return units.Count(int64(v))
}

func signedAmount(v float64, unit string) string {
	if v > 0 {
		return "+" + amount(v, unit)
	}
	return amount(v, unit)
}

func signedMs(ms float64) string {
	if math.Abs(ms) < 5e-6 { // what rounding leaves
		return "0"
	}
	if ms > 0 {
		return "+" + units.Milliseconds(ms)
	}
	return units.Milliseconds(ms)
}

// diffRows is the account of one kind. Rows of little are summed up, so that what is shown adds up as well.
func (p *printer) diffRows(d *report.Diff, kind DiffKind) {
	var of []*report.DiffRow
	for i := range d.Rows {
		if d.Rows[i].Kind == kind.Kind {
			of = append(of, &d.Rows[i])
		}
	}
	if len(of) < 2 {
		return
	}
	title := kind.Title
	if strings.Contains(title, "%s") {
		title = fmt.Sprintf(title, d.Per)
	}
	p.heading(title, fmt.Sprintf("all rows sum to %s", signedMs(d.Step.DifferenceMs)))
	var rows []shownDiffRow
	little, left := 0.0, 0
	for i, r := range of {
		last := i == len(of)-1
		if !last && !p.opt.All && (len(rows) >= usualDiffRows || math.Abs(r.DifferenceMs) < smallDiffShare*d.Step.BeforeMs &&
			!r.Different) {
			little, left = little+r.DifferenceMs, left+1
			continue
		}
		if last && left > 0 {
			rows = append(rows, shownDiffRow{&report.DiffRow{DifferenceMs: little, Name: fmt.Sprintf("%d more", left)}, false})
		}
		rows = append(rows, shownDiffRow{r, r.Name != "unexplained"})
	}
	cols := append(slices.Clone(diffColumns), column[shownDiffRow]{kind.What, func(r *shownDiffRow) string { return r.Name }, rest})
	writeKnownWith(p, cols, rows, diffBelow)
}

// shownDiffRow is a row of an account as the text shows it; sided says that it has values of both sides, which a remainder has not.
type shownDiffRow struct {
	*report.DiffRow
	sided bool
}

var diffColumns = []column[shownDiffRow]{
	{"difference", func(r *shownDiffRow) string { return signedMs(r.DifferenceMs) }, number},
	{"interval", diffInterval, number},
	{"more calls", func(r *shownDiffRow) string { return known(r.CallsMs, signedMs) }, number},
	{"dearer calls", func(r *shownDiffRow) string { return known(r.PriceMs, signedMs) }, number},
	{"before", func(r *shownDiffRow) string { return r.side(r.Before.Ms) }, number},
	{"after", func(r *shownDiffRow) string { return r.side(r.After.Ms) }, number},
}

func (r *shownDiffRow) side(ms float64) string {
	if !r.sided {
		return unknown
	}
	return units.Milliseconds(ms)
}

func diffInterval(r *shownDiffRow) string {
	if !r.sided || r.LowMs == nil || r.HighMs == nil {
		return unknown
	}
	text := signedMs(*r.LowMs) + " – " + signedMs(*r.HighMs)
	if r.Different {
		text += " *"
	}
	return text
}

func diffBelow(r *shownDiffRow) string {
	if !r.sided {
		return ""
	}
	var parts []string
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	if r.Was != "" {
		parts = append(parts, "was "+r.Was)
	}
	if r.Under != "" {
		parts = append(parts, r.Under)
	}
	return strings.Join(parts, "; ")
}

func (p *printer) diffMemory(d *report.Diff) {
	rows := slices.DeleteFunc(slices.Clone(d.Memory), func(m report.DiffBytes) bool { return m.Difference == 0 && m.Name != "peak" })
	if len(rows) == 0 {
		return
	}
	p.heading("Memory at the peak", "rows of a device sum to its peak")
	writeTable(p, diffMemoryColumns, rows[:p.rows(len(rows), usualDiffRows)])
}

var diffMemoryColumns = []column[report.DiffBytes]{
	{"difference", func(m *report.DiffBytes) string { return signedAmount(float64(m.Difference), "bytes") }, number},
	{"before", func(m *report.DiffBytes) string { return units.Bytes(float64(m.Before)) }, number},
	{"after", func(m *report.DiffBytes) string { return units.Bytes(float64(m.After)) }, number},
	{"device", func(m *report.DiffBytes) string { return m.Device }, 0},
	{"held by", func(m *report.DiffBytes) string { return m.Name }, rest},
}

func (p *printer) diffFindings(d *report.Diff) {
	f := &d.Findings
	if len(f.Gone)+len(f.New)+len(f.Changed) == 0 {
		return
	}
	p.heading("Findings", "with what fixing them would save")
	var rows []changedFinding
	for _, group := range []struct {
		word string
		list []report.DiffFinding
	}{{"gone", f.Gone}, {"new", f.New}, {"both", f.Changed}} {
		for i := range group.list {
			row := changedFinding{&group.list[i], group.word}
			if row.Was != nil {
				row.word = "moved"
			}
			rows = append(rows, row)
		}
	}
	writeTable(p, changedFindingColumns, rows)
}

// changedFinding is a finding and what became of it, in a word.
type changedFinding struct {
	*report.DiffFinding
	word string
}

var changedFindingColumns = []column[changedFinding]{
	{"", func(x *changedFinding) string { return x.word }, 0},
	{"before", func(x *changedFinding) string { return findingPrice(x.DiffFinding, x.Before) }, number},
	{"after", func(x *changedFinding) string { return findingPrice(x.DiffFinding, x.After) }, number},
	{"finding", func(x *changedFinding) string { return findingName(x.DiffFinding) }, rest},
}

func findingName(x *report.DiffFinding) string {
	if x.Where == nil {
		return x.Title
	}
	return fmt.Sprintf("%s: %s:%d", x.Title, report.Base(x.Where.File), x.Where.Line)
}

func findingPrice(x *report.DiffFinding, v *float64) string {
	switch {
	case v == nil:
		return "-"
	case x.Of == "run":
		return units.Seconds(*v) + " a run"
	}
	return units.Milliseconds(*v) + " a step"
}
