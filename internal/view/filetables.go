package view

import (
	"bottleneck/internal/report"
	"slices"
)

// contents writes the tables of other tools' files.
func (p *printer) contents() {
	for i := range p.r.Contents {
		c := &p.r.Contents[i]
		t := &c.Table
		rows := shownRows(p, t.Rows, 12, func(row *report.TableRow) bool { return p.rankShown(row.Rank) })
		if len(rows) == 0 {
			continue
		}
		p.heading(t.Title, report.Base(c.File))
		if len(p.r.Contents) > 1 || slices.Contains(p.opt.Sections, "contents") {
			p.wrap("  ", "    ", c.Sentence)
		}
		writeKnown(p, generalColumns(t)[1:], rows) // without ranks, which such files do not know
	}
}
