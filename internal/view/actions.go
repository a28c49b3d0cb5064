package view

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// actions sums regions and trainers' actions by name and rank: counts of actions are the agent's exact ones, totals are what all
// calls would have taken without the profiler, own times are what no other action or region on the same thread covers.
func (b *builder) actions() {
	for i, p := range b.s.Processes {
		rows := actionRows(p, b.s.Strings)
		addFunctions(rows, actionCalls(b.s, i))
		b.r.Actions = append(b.r.Actions, rows[:min(len(rows), maxOpRows-min(maxOpRows, len(b.r.Actions)))]...)
	}
	slices.SortStableFunc(b.r.Actions, func(x, y ActionRow) int { return cmp.Compare(y.TotalS, x.TotalS) })
}

// actionRows are the rows of one process, in the order in which they first occurred.
func actionRows(p *model.Process, strs *model.Strings) []ActionRow {
	sums := spanSums(p)
	names := make([]model.Str, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y model.Str) int { return cmp.Compare(sums[x].first, sums[y].first) })
	var rows []ActionRow
	at := map[string]int{}
	for _, name := range names {
		s := sums[name]
		at[strs.Text(name)] = len(rows)
		rows = append(rows, ActionRow{Name: strs.Text(name), Count: s.count, TotalS: s.total.Seconds(), SelfS: s.own.Seconds(), Rank: rankPtr(p.Rank)})
	}
	exact, _ := LightningActions(p, strs)
	for _, a := range exact {
		i, ok := at[a.Name]
		if !ok {
			i = len(rows)
			rows = append(rows, ActionRow{Name: a.Name, TotalS: a.Total, SelfS: a.Total, Rank: rankPtr(p.Rank)})
		}
		r := &rows[i]
		if r.TotalS > 0 {
			r.SelfS *= a.Total / r.TotalS // spans too short for a row of their own are in the sums only
		}
		r.Count, r.TotalS = a.Count, a.Total
		if a.Undistorted >= 0 {
			r.Undistorted = &a.Undistorted
		}
	}
	for i := range rows {
		rows[i].MeanMs = rows[i].TotalS * 1e3 / float64(max(rows[i].Count, 1))
	}
	return rows
}

// addFunctions gives rows the functions that were counted within their actions, those with the most cumulative time.
func addFunctions(rows []ActionRow, counted []model.ActionCalls) {
	at := map[string]*model.ActionCalls{}
	for i := range counted {
		at[counted[i].Name] = &counted[i]
	}
	for i := range rows {
		if a := at[rows[i].Name]; a != nil {
			rows[i].FunctionsOf = a.Measured
			rows[i].Functions = callRows(a.Functions, "cumtime", lightningCallRows)
		}
	}
}

// spanSum is what the spans of one name come to.
type spanSum struct {
	count      int64
	total, own model.Dur
	first      model.Time
}

// spanSums adds up a process's actions and regions by name.
func spanSums(p *model.Process) map[model.Str]*spanSum {
	var spans []*model.Span
	for i := range p.Spans {
		if sp := &p.Spans[i]; (sp.Kind == model.SpanAction || sp.Kind == model.SpanRegion) && sp.End >= sp.Start {
			spans = append(spans, sp)
		}
	}
	slices.SortStableFunc(spans, func(x, y *model.Span) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End))
	})
	sums := map[model.Str]*spanSum{}
	var open []*model.Span
	for _, sp := range spans {
		for len(open) > 0 && (open[len(open)-1].Thread != sp.Thread || open[len(open)-1].End <= sp.Start) {
			open = open[:len(open)-1]
		}
		took := model.Dur(sp.End - sp.Start)
		s := sums[sp.Name]
		if s == nil {
			s = &spanSum{first: sp.Start}
			sums[sp.Name] = s
		}
		s.count, s.total, s.own, s.first = s.count+1, s.total+took, s.own+took, min(s.first, sp.Start)
		if len(open) > 0 {
			outer := open[len(open)-1]
			sums[outer.Name].own -= model.Dur(min(sp.End, outer.End) - sp.Start)
		}
		open = append(open, sp)
	}
	return sums
}

// actions prints trainers' actions and the program's named regions.
func (p *printer) actions() {
	if len(p.r.Actions) == 0 {
		return
	}
	several := slices.ContainsFunc(p.r.Actions, func(a ActionRow) bool { return a.Rank != nil && *a.Rank > 0 })
	p.heading("Actions", "of the trainer, and regions that were named; over the whole run, at the mean of calls that the profiler did not distort")
	cols := slices.Clone(actionColumns)
	if !several {
		cols = slices.DeleteFunc(cols, func(c column[ActionRow]) bool { return c.head == "rank" })
	}
	rows := p.r.Actions[:p.rows(len(p.r.Actions), 10)]
	writeTable(p, cols, rows)
	if slices.ContainsFunc(rows, ActionRow.distorted) {
		p.wrap("  ", "  ", "* every call met the profiler: of all calls, its cost included")
	}
}

var actionColumns = []column[ActionRow]{
	{"own", func(a *ActionRow) string { return units.Seconds(a.SelfS) }, number},
	{"total", func(a *ActionRow) string { return units.Seconds(a.TotalS) }, number},
	{"calls", func(a *ActionRow) string { return units.Count(a.Count) }, number},
	{"mean", actionMean, number},
	{"rank", func(a *ActionRow) string { return rankText(a.Rank) }, number},
	{"action or region", func(a *ActionRow) string { return a.Name }, rest},
}

// distorted says that every call met the profiler.
func (a ActionRow) distorted() bool { return a.Undistorted != nil && *a.Undistorted == 0 }

func actionMean(a *ActionRow) string {
	if a.distorted() {
		return "* " + units.Milliseconds(a.MeanMs)
	}
	return units.Milliseconds(a.MeanMs)
}
