package report

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// Actions sums regions and trainers' actions by name and rank: counts of actions are the agent's exact ones, totals are what all
// calls would have taken without the profiler, own times are what no other action or region on the same thread covers.
func (b *Builder) Actions() {
	for i, p := range b.S.Processes {
		rows := ActionRows(p, b.S.Strings)
		addFunctions(rows, ActionCalls(b.S, i))
		b.R.Actions = append(b.R.Actions, rows[:min(len(rows), maxOpRows-min(maxOpRows, len(b.R.Actions)))]...)
	}
	slices.SortStableFunc(b.R.Actions, func(x, y ActionRow) int { return cmp.Compare(y.TotalS, x.TotalS) })
}

// ActionRows are the rows of one process, in the order in which they first occurred.
func ActionRows(p *model.Process, strs *model.Strings) []ActionRow {
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
		rows = append(rows, ActionRow{Name: strs.Text(name), Count: s.count, TotalS: s.total.Seconds(), SelfS: s.own.Seconds(),
			Rank: RankPtr(p.Rank)})
	}
	exact, _ := LightningActions(p, strs)
	for _, a := range exact {
		i, ok := at[a.Name]
		if !ok {
			i = len(rows)
			rows = append(rows, ActionRow{Name: a.Name, TotalS: a.Total, SelfS: a.Total, Rank: RankPtr(p.Rank)})
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
			rows[i].Functions = callRows(a.Functions, "cumtime", LightningCallRows)
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

// Distorted says that every call met the profiler.
func (a ActionRow) Distorted() bool { return a.Undistorted != nil && *a.Undistorted == 0 }
