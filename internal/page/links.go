package page

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"slices"
)

// causeNames are the names by which the timeline knows what a cause is about, where the agent saw it.
var causeNames = map[string]string{"input": spanNames[model.SpanDataWait],
	"gc": spanNames[model.SpanGC], "gil": gilWait, "compile": spanNames[model.SpanCompile],
	"io": spanNames[model.SpanIO], "startup": spanNames[model.SpanImport]}

// causeViews are the views that a cause's numbers are of, the best first.
var causeViews = map[string][]string{"input": {"workers"}, "straggler": {"ranks"}, "comm-exposed": {"ranks", "collectives", "gpu"},
	"compute": {"kernels", "gpu"}, "padding": {"workers"},
	"memory": {"memory"}, "alloc": {"memory", "launches"}, "launch": {"launches", "idle"}, "sync": {"idle"}, "copy": {"copies"},
	"precision": {"roofline", "kernels"},
	"uneven":    {"steps"}}

// linker collects what leads from a finding to its place in the views that there are.
type linker struct {
	p     *Page
	links []Link
}

func (l *linker) has(view string) bool {
	return slices.ContainsFunc(l.p.listed(), func(v View) bool { return v.ID == view })
}

func (l *linker) add(text, view, find string) {
	if l.has(view) {
		l.links = append(l.links, Link{Text: text, View: view, Find: find})
	}
}

// row adds a row of a table, if a row holds the text.
func (l *linker) row(text, table, find string) {
	i := slices.IndexFunc(l.p.tables, func(t Table) bool { return t.Name == table })
	if find != "" && i >= 0 && l.p.tables[i].holds(find) {
		l.add(text, table, find)
	}
}

// links lead from a finding to the exact place; at least to the view that its numbers are of.
func (p *Page) links(f *report.Finding) []Link {
	l := &linker{p: p, links: []Link{}}
	w := &f.Where
	if file := report.CleanPath(w.File); file != "" && p.sources[file] != nil {
		l.links = append(l.links, Link{Text: "its source with the time of each line", View: "source", File: file, Line: w.Line})
	}
	if w.Function != "" {
		l.add("its calls in the flame graph", "flame-python", w.Function)
	}
	if w.Op != "" {
		l.add("its calls in the timeline", "timeline", w.Op)
		l.add("its calls in the flame graph", "flame-operators", w.Op)
	}
	if name := causeNames[f.Cause]; name != "" && w.Op == "" && p.timeline != nil && p.timeline.find(name).Count > 0 {
		l.add("each "+name+" in the timeline", "timeline", name)
	}
	l.row("its row in Operators", "operators", w.Op)
	l.row("its row in Kernels", "kernels", w.Kernel)
	l.row("its row in Functions", "functions", w.Function)
	for _, view := range causeViews[f.Cause] {
		if l.has(view) {
			i := slices.IndexFunc(p.listed(), func(v View) bool { return v.ID == view })
			l.add(p.listed()[i].Title, view, "")
			break
		}
	}
	if len(l.links) == 0 {
		l.add("the timeline", "timeline", "")
	}
	return l.links
}
