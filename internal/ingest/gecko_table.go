package ingest

import (
	"bytes"
	"encoding/json"
	"math"
)

// geckoTable is a table of a gecko profile in columns, whichever way the file writes it. Cells that are no number are NaN.
type geckoTable struct {
	columns map[string][]float64
	n       int
}

// UnmarshalJSON reads {"schema": {name: index}, "data": [[…], …]} or {"length": n, name: […], …}.
func (t *geckoTable) UnmarshalJSON(text []byte) error {
	var raw struct {
		Schema map[string]int      `json:"schema"`
		Data   [][]json.RawMessage `json:"data"`
	}
	*t = geckoTable{columns: map[string][]float64{}}
	if bytes.Contains(text, []byte(`"schema"`)) && json.Unmarshal(text, &raw) == nil && raw.Schema != nil {
		t.n = len(raw.Data)
		for name, at := range raw.Schema {
			column := make([]float64, t.n)
			for i, row := range raw.Data {
				column[i] = math.NaN()
				if at >= 0 && at < len(row) {
					column[i] = numberOf(row[at])
				}
			}
			t.columns[name] = column
		}
		return nil
	}
	var columns map[string]json.RawMessage
	if err := json.Unmarshal(text, &columns); err != nil {
		return err
	}
	for name, cells := range columns {
		var list []json.RawMessage
		if json.Unmarshal(cells, &list) != nil {
			continue
		}
		column := make([]float64, len(list))
		for i, cell := range list {
			column[i] = numberOf(cell)
		}
		t.columns[name] = column
		t.n = max(t.n, len(column))
	}
	return nil
}

func numberOf(cell json.RawMessage) float64 {
	var v float64
	if bytes.Equal(cell, []byte("null")) || json.Unmarshal(cell, &v) != nil {
		return math.NaN()
	}
	return v
}

func (t *geckoTable) rows() int { return t.n }

func (t *geckoTable) float(column string, i int) (float64, bool) {
	c := t.columns[column]
	if i < 0 || i >= len(c) || math.IsNaN(c[i]) {
		return 0, false
	}
	return c[i], true
}

// int is a cell as an index; false where there is none.
func (t *geckoTable) int(column string, i int) (int, bool) {
	v, ok := t.float(column, i)
	if !ok || math.Abs(v) > math.MaxInt32 {
		return 0, false
	}
	return int(v), true
}
