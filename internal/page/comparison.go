package page

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"bottleneck/internal/view"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

const (
	compareView  = "compare"
	groupCompare = "Compared"
	// differenceSuffix stands behind the name of a flame graph for the same with the other session's times.
	differenceSuffix = "-difference"
)

// Compare makes the page also show what differs from an earlier session, as the comparison of the same two says. It is called before the
// page is shown.
func (p *Page) Compare(d *report.Diff, before *model.Session) {
	p.diff = d
	tables := diffTables(d)
	for i := range tables {
		p.compared = append(p.compared, "table/"+tables[i].Name)
	}
	p.tables = append(tables, p.tables...)
	p.panels[compareView] = sync.OnceValue(func() *Panels {
		return &Panels{Title: units.UpperFirst(d.Sentence), Aside: sidesText(d), Charts: []Chart{partsChart(d)}, Tables: p.compared}
	})
	now, then := treesOf(p.session), treesOf(before)
	for _, f := range flameViews {
		p.flames[f.name+differenceSuffix] = sync.OnceValue(func() *Flame { return difference(now[f.name](), then[f.name](), d, f.title) })
	}
}

// comparisonViews lists the views of a comparison; none without one.
func (p *Page) comparisonViews() []View {
	if p.diff == nil {
		return nil
	}
	out := []View{{ID: compareView, Kind: "panels", Title: "Comparison", Group: groupCompare, Part: "panels/" + compareView}}
	for _, f := range flameViews {
		if p.flames[f.name+differenceSuffix]() != nil {
			name := f.name + differenceSuffix
			out = append(out, View{ID: "flame-" + name, Kind: "flame", Title: f.title + ", difference", Group: groupCompare,
				Part: "flame/" + name})
		}
	}
	return out
}

func sidesText(d *report.Diff) string {
	return fmt.Sprintf("%s a %s before (%s), %s after (%s)",
		units.Milliseconds(d.Step.BeforeMs), d.Per, d.Before.Path, units.Milliseconds(d.Step.AfterMs), d.After.Path)
}

// partsChart draws the parts of both sides.
func partsChart(d *report.Diff) Chart {
	var series []Series
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Kind == "part" && (r.Before.Ms > 0 || r.After.Ms > 0) {
			s := newSeries(r.Name)
			s.addIn(0, 0, r.Before.Ms*1e3)
			s.addIn(1, 0, r.After.Ms*1e3)
			series = append(series, s)
		}
	}
	c := chartOf("Parts of the "+d.Per, chartBars, Axis{Head: "time of a " + d.Per, Unit: unitTime}, Axis{Unit: unitText}, series...)
	c.Rows = []string{"before", "after"}
	return c
}

// diffTables are the tables of a comparison.
func diffTables(d *report.Diff) []Table {
	var out []Table
	for _, k := range view.DiffKinds() {
		out = append(out, diffTable(d, k))
	}
	out = append(out,
		tableOf("compare-counters", "Counters", groupCompare, "what does not depend on how fast anything ran", d.Counters,
			text("what", func(c *report.DiffCount) string { return c.Kind }),
			name("name", func(c *report.DiffCount) string { return c.Name }),
			text("per", func(c *report.DiffCount) string { return c.Per }),
			number("before", unitNumber, func(c *report.DiffCount) float64 { return c.Before }),
			number("after", unitNumber, func(c *report.DiffCount) float64 { return c.After }),
			number("difference", unitNumber, func(c *report.DiffCount) float64 { return c.Difference }),
			text("decided", func(c *report.DiffCount) string { return yes(c.Different) }),
			place("at", func(c *report.DiffCount) (string, int) { return placeOf(c.Where) })),
		tableOf("compare-memory", "Memory, compared", groupCompare, "parts of the difference of the peaks", d.Memory,
			text("device", func(m *report.DiffBytes) string { return m.Device }),
			text("what", func(m *report.DiffBytes) string { return m.Name }),
			number("before", unitBytes, func(m *report.DiffBytes) float64 { return float64(m.Before) }),
			number("after", unitBytes, func(m *report.DiffBytes) float64 { return float64(m.After) }),
			number("difference", unitBytes, func(m *report.DiffBytes) float64 { return float64(m.Difference) })),
		findingsTable(d),
		tableOf("compare-around", "Differs around it", groupCompare, "", append(append([]report.DiffFact{}, d.Unlike...), d.Around...),
			text("what", func(f *report.DiffFact) string { return f.What }),
			text("before", func(f *report.DiffFact) string { return f.Before }),
			text("after", func(f *report.DiffFact) string { return f.After })))
	return withRows(out...)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func placeOf(p *report.Place) (string, int) {
	if p == nil {
		return "", 0
	}
	return p.File, p.Line
}

// diffTable is an account of the difference by rows of one kind.
func diffTable(d *report.Diff, k view.DiffKind) Table {
	var rows []report.DiffRow
	for i := range d.Rows {
		if d.Rows[i].Kind == k.Kind {
			rows = append(rows, d.Rows[i])
		}
	}
	us := func(v *float64) *float64 { return scaled(v, 1e3) }
	t := tableOf("compare-"+k.Kind, strings.Replace(k.Title, "%s", d.Per, 1)+", compared", groupCompare,
		"the rows sum to the difference of the "+d.Per+"; decided: the runs show a difference, all rows taken together", rows,
		name(k.What, func(r *report.DiffRow) string { return rowName(r) }),
		text("was", func(r *report.DiffRow) string { return r.Was }),
		sum(number("before", unitTime, func(r *report.DiffRow) float64 { return r.Before.Ms * 1e3 })),
		sum(number("after", unitTime, func(r *report.DiffRow) float64 { return r.After.Ms * 1e3 })),
		sum(bar(number("difference", unitTime, func(r *report.DiffRow) float64 { return r.DifferenceMs * 1e3 }))),
		perhaps("at least", unitTime, func(r *report.DiffRow) *float64 { return us(r.LowMs) }),
		perhaps("at most", unitTime, func(r *report.DiffRow) *float64 { return us(r.HighMs) }),
		perhaps("by more calls", unitTime, func(r *report.DiffRow) *float64 { return us(r.CallsMs) }),
		perhaps("by dearer calls", unitTime, func(r *report.DiffRow) *float64 { return us(r.PriceMs) }),
		text("decided", func(r *report.DiffRow) string { return yes(r.Different) }),
		place("at", func(r *report.DiffRow) (string, int) { return placeOf(r.Where) }),
		text("source", func(r *report.DiffRow) string { return r.Text }))
	t.Sort = -1 // as the comparison orders them: by size, whatever the sign
	return t
}

func rowName(r *report.DiffRow) string {
	if r.Name == "" && r.Under != "" {
		return "under " + r.Under
	}
	return r.Name
}

// foundIn is a finding of either side.
type foundIn struct {
	what string
	report.DiffFinding
}

func findingsTable(d *report.Diff) Table {
	var rows []foundIn
	for _, list := range []struct {
		what string
		of   []report.DiffFinding
	}{{"new", d.Findings.New}, {"gone", d.Findings.Gone}, {"changed", d.Findings.Changed}} {
		for _, f := range list.of {
			rows = append(rows, foundIn{list.what, f})
		}
	}
	price := func(f *foundIn, v *float64) *float64 {
		if f.Of == "run" {
			return scaled(v, 1e6)
		}
		return scaled(v, 1e3)
	}
	return tableOf("compare-findings", "Findings, compared", groupCompare, "what fixing each would save, a step or of the run", rows,
		text("", func(f *foundIn) string { return f.what }),
		text("finding", func(f *foundIn) string { return f.Title }),
		text("cause", func(f *foundIn) string { return f.Cause }),
		perhaps("before", unitTime, func(f *foundIn) *float64 { return price(f, f.Before) }),
		perhaps("after", unitTime, func(f *foundIn) *float64 { return price(f, f.After) }),
		text("of", func(f *foundIn) string { return f.Of }),
		place("at", func(f *foundIn) (string, int) { return placeOf(f.Where) }))
}

// numbered are the parts of names that differ from run to run: ids of processes and threads.
var numbered = regexp.MustCompile(` ?\((pid )?\d+\)|\bthread \d+`)

// difference is the later session's flame graph of times with the earlier one's time of each box, brought to as many steps. nil where
// one of them has none.
func difference(now, then *tree, d *report.Diff, title string) *Flame {
	if now == nil || then == nil || now.unit == unitBytes ||
		now.nodes[0].total <= 0 || then.nodes[0].total <= 0 {
		return nil
	}
	factor, words := 1.0, "Times are of the whole recordings"
	if before, after := countOf(&d.Before), countOf(&d.After); d.Per != "run" && before > 0 && after > 0 {
		factor = after / before
		words = fmt.Sprintf("Times before are brought to the same number of steps (×%.3g)", factor)
	}
	both, then := now.unnumbered(), then.unnumbered()
	at := map[int32]int32{0: 0} // node of then by node of now
	below := then.byName()
	for i := range both.nodes {
		n := &both.nodes[i]
		if i > 0 {
			parent, known := at[n.parent]
			if !known {
				continue
			}
			other, known := below[nameKey{parent, both.list[n.frame].name}]
			if !known {
				continue
			}
			at[int32(i)] = other
		}
		n.before = then.nodes[at[int32(i)]].total * factor
	}
	return both.laidOut(title+", difference", "as wide as it takes now; coloured by what it took before. "+words, true)
}

// countOf are the steps of one side's first run, whose session is drawn.
func countOf(s *report.DiffSide) float64 {
	if len(s.Runs) == 0 {
		return 0
	}
	return float64(s.Runs[0].Count)
}

// nameKey is a child of a node by its name.
type nameKey struct {
	parent int32
	name   string
}

// byName finds children by names that two runs share. Of several by one name, as of functions of two files, it finds the largest.
func (t *tree) byName() map[nameKey]int32 {
	out := map[nameKey]int32{}
	for i := 1; i < len(t.nodes); i++ {
		key := nameKey{t.nodes[i].parent, t.list[t.nodes[i].frame].name}
		if other, known := out[key]; !known || t.nodes[i].total > t.nodes[other].total {
			out[key] = int32(i)
		}
	}
	return out
}

// unnumbered is the tree without what differs from run to run: workers that followed one another are one box.
func (t *tree) unnumbered() *tree {
	out := newTree(t.list[t.nodes[0].frame].name)
	at := make([]int32, len(t.nodes))
	for i := range t.nodes {
		if i > 0 {
			f := t.list[t.nodes[i].frame]
			f.name = numbered.ReplaceAllString(f.name, "")
			at[i] = out.child(at[t.nodes[i].parent], f)
		}
		out.nodes[at[i]].self += t.nodes[i].self
	}
	out.sum()
	return out
}
