package view

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse/tables"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
)

// general writes one of these tables.
func (p *printer) general(a *tables.Analysis) {
	if a.Name == report.EventsSection && !p.opt.All && !p.asked() && len(p.r.KeyAverages)+len(p.r.Kernels) > 0 {
		return
	}
	for i := range p.r.Tables {
		t := &p.r.Tables[i]
		if t.Name != a.Name || len(t.Rows) == 0 {
			continue
		}
		rows := shownRows(p, t.Rows, 12, func(row *report.TableRow) bool { return p.rankShown(row.Rank) })
		if len(rows) == 0 {
			return
		}
		p.heading(t.Title, a.Aside)
		writeKnown(p, generalColumns(t), rows)
	}
}

// generalColumns are the columns of a table that an analysis made, behind the rank.
func generalColumns(t *report.Table) []column[report.TableRow] {
	ends, width := report.EndsTell(t), report.BesideText(t)
	cols := []column[report.TableRow]{{"rank", func(r *report.TableRow) string { return report.RankText(r.Rank) }, 0}}
	for i, c := range t.Columns {
		as := layout(0)
		if c.Unit != "text" {
			as |= number
		}
		if i == 0 {
			as |= rest
		}
		cols = append(cols, column[report.TableRow]{c.Name, func(r *report.TableRow) string {
			switch {
			case i >= len(r.Cells):
				return unknown
			case r.Cells[i].Text == "":
				return known(r.Cells[i].Value, generalUnit(c.Unit))
			case i == 0:
				return r.Cells[i].Text
			case ends[i] || strings.Contains(r.Cells[i].Text, "/"):
				return units.ClipLeft(r.Cells[i].Text, width)
			}
			return units.Clip(r.Cells[i].Text, width)
		}, as})
	}
	return cols
}

// generalUnit writes values of a table's unit.
func generalUnit(unit string) func(float64) string {
	switch unit {
	case "count":
		return func(v float64) string { return units.Count(int64(v)) }
	case "us":
		return func(v float64) string { return units.Milliseconds(v / 1e3) }
	case "share":
		return units.Percent
	case "bytes":
		return units.Bytes
	}
	return func(v float64) string { return fmt.Sprintf("%.4g", v) }
}
