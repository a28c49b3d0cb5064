package tables

import "bottleneck/internal/model"

// Analysis is an analysis whose result is one table, which reports show as it is: as a section of that name, and in the
// document under tables.
type Analysis struct {
	Name  string // of the section: lower case, words joined by "-"
	Title string // heading
	Aside string // beside the heading: what the numbers are of
	Needs string // what a trace must hold; said where the table is asked for and empty
	// Columns say what the cells of every row are.
	Columns []Column
	// Rows analyses one trace; most important first, no rows where the trace holds nothing of the kind.
	Rows func(*model.Trace, *model.Strings) [][]Cell
	// All takes the place of Rows where the traces of one rank are summed.
	All func([]*model.Trace, *model.Strings) [][]Cell
}

// Analyse gives the rows of the traces of one rank.
func (a *Analysis) Analyse(traces []*model.Trace, s *model.Strings) [][]Cell {
	if a.All != nil {
		return a.All(traces, s)
	}
	var rows [][]Cell
	for _, t := range traces {
		rows = append(rows, a.Rows(t, s)...)
	}
	return rows
}

// analyses are all of them, in the order of the report. A new one is a file with its Analysis, its test, and a line
// here (docs/add-an-analysis.md).
var analyses = []Analysis{
	moduleTimes,
	compiledRegions,
	tritonKernels,
	counterValues,
	rangeCounters,
	otherEvents,
	traceMetadata,
}

// All are the analyses that give one table each.
func All() []Analysis { return analyses }

// Column is a column of such a table.
type Column struct {
	Name string
	Unit Unit
}

// Unit says what a cell's number is.
type Unit uint8

// Units of columns.
const (
	UnitText  Unit = iota // the cell is its text
	UnitCount             // a whole number
	UnitTime              // nanoseconds
	UnitShare             // 0..1
	UnitBytes
	UnitNumber // anything else
	UnitJSON   // the cell's text is JSON as a trace's header holds it; the report shows it as one line of text
)

var unitNames = [...]string{"text", "count", "us", "share", "bytes", "number", "text"}

// String is the unit in the report document, which has times in microseconds.
func (u Unit) String() string { return unitNames[min(int(u), len(unitNames)-1)] }

// Cell is one value: a text or a number, by its column's unit.
type Cell struct {
	Text   string
	Number float64
	None   bool // not known, or does not apply
}

func textCell(text string) Cell { return Cell{Text: text, None: text == ""} }

func numberCell[T ~int | ~int64 | ~float64](v T) Cell { return Cell{Number: float64(v)} }
