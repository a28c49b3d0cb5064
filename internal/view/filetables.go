package view

import (
	"slices"

	"bottleneck/internal/model"
)

var fileUnits = [...]string{"text", "count", "us", "share", "bytes", "number"}

// fileTables are the tables of other tools' files.
func (b *builder) fileTables() {
	for _, t := range b.s.FileTables {
		out := Table{Name: t.Name, Title: t.Title, Columns: []TableColumn{}, Rows: []TableRow{}}
		for _, c := range t.Columns {
			out.Columns = append(out.Columns, TableColumn{c.Name, fileUnits[min(int(c.Unit), len(fileUnits)-1)]})
		}
		in := &b.s.Inputs[t.Input]
		for _, cells := range t.Rows[:min(len(t.Rows), maxOpRows)] {
			row := TableRow{Rank: rankPtr(in.Rank), Cells: make([]TableCell, len(cells))}
			for i, c := range cells {
				switch unit := t.Columns[i].Unit; {
				case c.None:
				case unit == model.FileText:
					row.Cells[i].Text = c.Text
				case unit == model.FileTime:
					row.Cells[i].Value = ptr(c.Number / 1e3)
				default:
					row.Cells[i].Value = ptr(c.Number)
				}
			}
			out.Rows = append(out.Rows, row)
		}
		b.r.Contents = append(b.r.Contents, Contents{File: in.Path, Sentence: t.Sentence, Table: out})
	}
}

// onlyContents is the verdict where there is nothing but tables of other tools.
func (b *builder) onlyContents() {
	if len(b.r.Contents) == 0 || len(b.s.Traces)+len(b.s.Processes)+len(b.s.Calls)+len(b.s.Snapshots) > 0 {
		return
	}
	b.r.Verdict = Verdict{Bound: "unknown", Sentence: b.r.Contents[0].Sentence, Confidence: Confidence{Level: "medium", Why: "what another tool wrote, as it stands"}}
}

// contents writes the tables of other tools' files.
func (p *printer) contents() {
	for i := range p.r.Contents {
		c := &p.r.Contents[i]
		t := &c.Table
		rows := shownRows(p, t.Rows, 12, func(row *TableRow) bool { return p.rankShown(row.Rank) })
		if len(rows) == 0 {
			continue
		}
		p.heading(t.Title, base(c.File))
		if len(p.r.Contents) > 1 || slices.Contains(p.opt.Sections, "contents") {
			p.wrap("  ", "    ", c.Sentence)
		}
		writeKnown(p, generalColumns(t)[1:], rows) // without ranks, which such files do not know
	}
}
