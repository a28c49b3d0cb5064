package model

import "fmt"

// FileTable is what a file of another tool holds, where that is neither a trace nor samples nor calls: a table as the tool has it.
type FileTable struct {
	Input    int    // index in Session.Inputs
	Name     string // stable word
	Title    string
	Sentence string // the most important of it, as a sentence
	Columns  []FileColumn
	Rows     [][]FileCell // as many cells as there are columns
}

// FileColumn is a column of a FileTable.
type FileColumn struct {
	Name string
	Unit FileUnit
}

// FileUnit says what a cell's number is.
type FileUnit uint8

// Units of columns; times are nanoseconds, shares 0 to 1.
const (
	FileText FileUnit = iota
	FileCount
	FileTime
	FileShare
	FileBytes
	FileNumber
)

// FileCell is a text or a number, by its column's unit; None where it is not known.
type FileCell struct {
	Text   string
	Number float64
	None   bool
}

func (t *FileTable) check(inputs int) error {
	if t.Input < 0 || t.Input >= inputs || t.Name == "" {
		return fmt.Errorf("table %q of input %d", t.Name, t.Input)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Name, i, len(row), len(t.Columns))
		}
	}
	return nil
}
