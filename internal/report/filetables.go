package report

import (
	"bottleneck/internal/model"
)

var fileUnits = [...]string{"text", "count", "us", "share", "bytes", "number"}

// fileTables are the tables of other tools' files.
func (b *Builder) fileTables() {
	for _, t := range b.S.FileTables {
		out := Table{Name: t.Name, Title: t.Title, Columns: []TableColumn{}, Rows: []TableRow{}}
		for _, c := range t.Columns {
			out.Columns = append(out.Columns, TableColumn{c.Name, fileUnits[min(int(c.Unit), len(fileUnits)-1)]})
		}
		in := &b.S.Inputs[t.Input]
		for _, cells := range t.Rows[:min(len(t.Rows), maxOpRows)] {
			row := TableRow{Rank: RankPtr(in.Rank), Cells: make([]TableCell, len(cells))}
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
		b.R.Contents = append(b.R.Contents, Contents{File: in.Path, Sentence: t.Sentence, Table: out})
	}
}

// onlyContents is the verdict where there is nothing but tables of other tools.
func (b *Builder) onlyContents() {
	if len(b.R.Contents) == 0 || len(b.S.Traces)+len(b.S.Processes)+len(b.S.Calls)+len(b.S.Snapshots) > 0 {
		return
	}
	b.R.Verdict = Verdict{Bound: "unknown", Sentence: b.R.Contents[0].Sentence,
		Confidence: Confidence{Level: "medium", Why: "what another tool wrote, as it stands"}}
}
