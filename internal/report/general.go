package report

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"bottleneck/internal/analyse/tables"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// Table is the result of an analysis that gives one table.
type Table struct {
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Columns []TableColumn `json:"columns"`
	Rows    []TableRow    `json:"rows"`
}

// Contents is a table of another tool's file, as it stands there.
type Contents struct {
	File     string `json:"file"`
	Sentence string `json:"sentence"`
	Table    Table  `json:"table"`
}

// TableColumn is a column of a Table; unit: text, count, us, share (0..1), bytes or number.
type TableColumn struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// TableRow is a row of a Table: as many cells as there are columns.
type TableRow struct {
	Rank  *int        `json:"rank,omitempty"`
	Cells []TableCell `json:"cells"`
}

// TableCell holds a text or a value, by the unit of its column; neither where it is not known.
type TableCell struct {
	Text  string   `json:"text,omitempty"`
	Value *float64 `json:"value,omitempty"`
}

// generalTables make the tables of tables.All, each in a place of its own, since they are made at the same time.
func (b *Builder) generalTables(traces []*model.Trace) []table {
	var list []table
	b.R.Tables = make([]Table, len(tables.All()))
	for i, a := range tables.All() {
		list = append(list, table{a.Name, func() { b.R.Tables[i] = generalTable(&a, traces, b.S.Strings) }, []string{a.Name}})
	}
	return list
}

func generalTable(a *tables.Analysis, traces []*model.Trace, s *model.Strings) Table {
	out := Table{Name: a.Name, Title: a.Title, Columns: []TableColumn{}, Rows: []TableRow{}}
	for _, c := range a.Columns {
		out.Columns = append(out.Columns, TableColumn{c.Name, c.Unit.String()})
	}
	for _, ofRank := range byRank(traces) {
		for _, cells := range a.Analyse(ofRank, s) {
			if len(out.Rows) >= maxOpRows {
				return out
			}
			row := TableRow{Rank: RankPtr(ofRank[0].Rank), Cells: make([]TableCell, len(cells))}
			for i, c := range cells {
				switch unit := a.Columns[i].Unit; {
				case c.None:
				case unit == tables.UnitText:
					row.Cells[i].Text = c.Text
				case unit == tables.UnitJSON:
					row.Cells[i].Text = jsonLine(c.Text)
				case unit == tables.UnitTime:
					row.Cells[i].Value = ptr(c.Number / 1e3)
				default:
					row.Cells[i].Value = ptr(c.Number)
				}
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}

// byRank puts traces of the same rank together, in the order in which ranks come first.
func byRank(traces []*model.Trace) [][]*model.Trace {
	var out [][]*model.Trace
	index := map[int]int{}
	for _, t := range traces {
		i, known := index[t.Rank]
		if !known {
			i = len(out)
			index[t.Rank] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], t)
	}
	return out
}

// maxJSONLine bounds a cell of UnitJSON, bytes; the file has the whole.
const maxJSONLine = 300

// jsonLine is a JSON value as one line: a string without its quotes, anything else as JSON.
func jsonLine(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		text = raw
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxJSONLine {
		return text
	}
	end := maxJSONLine
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// mergeTables appends the rows of more ranks, and keeps tables with rows only once all are there.
func mergeTables(to, from []Table) []Table {
	for i := range from {
		if i == len(to) {
			to = append(to, Table{Name: from[i].Name, Title: from[i].Title, Columns: from[i].Columns})
		}
		to[i].Rows = limited(to[i].Rows, from[i].Rows)
	}
	return to
}

// EventsSection is shown without being asked for where a file holds nothing of PyTorch's profiler.
const EventsSection = "events"

// BesideText is how wide texts are that stand beside the first column.
func BesideText(t *Table) int {
	texts := 0
	for _, c := range t.Columns {
		if c.Unit == "text" {
			texts++
		}
	}
	if texts > 2 && len(t.Columns) > 5 {
		return 14
	}
	return 24
}

// EndsTell says of each column whether texts that differ would look alike if their ends were cut off.
func EndsTell(t *Table) []bool {
	out, width := make([]bool, len(t.Columns)), BesideText(t)
	for i := range t.Columns {
		full := map[string]string{} // by what is left of it
		for k := range t.Rows {
			if i < len(t.Rows[k].Cells) && t.Rows[k].Cells[i].Text != "" {
				text := t.Rows[k].Cells[i].Text
				short := units.Clip(text, width)
				if other, known := full[short]; known && other != text {
					out[i] = true
					break
				}
				full[short] = text
			}
		}
	}
	return out
}
