package ingest

import "bottleneck/internal/model"

// Cells of a model.FileTable.
func fileText(s string) model.FileCell              { return model.FileCell{Text: s, None: s == ""} }
func fileNumber(v float64) model.FileCell           { return model.FileCell{Number: v} }
func fileCount[T ~int | ~int64](n T) model.FileCell { return model.FileCell{Number: float64(n)} }

// noCell is a value that is not known.
var noCell = model.FileCell{None: true}

// addTable ends the reading of a file that is a table.
func addTable(o *opening, src source, t *model.FileTable, events int64, damage ...model.Diagnostic) func() error {
	return addTables(o, src, t.Name, []*model.FileTable{t}, events, damage...)
}

// addTables is addTable for a file of several; the first says the most important.
func addTables(o *opening, src source, format string, tables []*model.FileTable, events int64, damage ...model.Diagnostic) func() error {
	return func() error {
		for _, t := range tables {
			t.Input = len(o.s.Inputs)
		}
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: format, Bytes: src.size, Events: events, Diagnostics: damage,
			Rank: (&header{rank: model.NoRank}).rankOf(src.path)})
		o.s.FileTables = append(o.s.FileTables, tables...)
		return nil
	}
}
