package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"slices"
)

// actions prints trainers' actions and the program's named regions.
func (p *printer) actions() {
	if len(p.r.Actions) == 0 {
		return
	}
	several := slices.ContainsFunc(p.r.Actions, func(a report.ActionRow) bool { return a.Rank != nil && *a.Rank > 0 })
	p.heading("Actions",
		"of the trainer, and regions that were named; over the whole run, at the mean of calls that the profiler did not distort")
	cols := slices.Clone(actionColumns)
	if !several {
		cols = slices.DeleteFunc(cols, func(c column[report.ActionRow]) bool { return c.head == "rank" })
	}
	rows := p.r.Actions[:p.rows(len(p.r.Actions), 10)]
	writeTable(p, cols, rows)
	if slices.ContainsFunc(rows, report.ActionRow.Distorted) {
		p.wrap("  ", "  ", "* every call met the profiler: of all calls, its cost included")
	}
}

var actionColumns = []column[report.ActionRow]{
	{"own", func(a *report.ActionRow) string { return units.Seconds(a.SelfS) }, number},
	{"total", func(a *report.ActionRow) string { return units.Seconds(a.TotalS) }, number},
	{"calls", func(a *report.ActionRow) string { return units.Count(a.Count) }, number},
	{"mean", actionMean, number},
	{"rank", func(a *report.ActionRow) string { return report.RankText(a.Rank) }, number},
	{"action or region", func(a *report.ActionRow) string { return a.Name }, rest},
}

func actionMean(a *report.ActionRow) string {
	if a.Distorted() {
		return "* " + units.Milliseconds(a.MeanMs)
	}
	return units.Milliseconds(a.MeanMs)
}
