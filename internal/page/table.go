package page

import (
	"slices"
	"strings"
)

// Units of columns. The page writes each as the terminal does.
const (
	unitText   = "text"
	unitPlace  = "place" // file:line, which leads to the source
	unitTime   = "us"
	unitBytes  = "bytes"
	unitCount  = "count"
	unitShare  = "share" // 0..1
	unitNumber = "number"
)

// Table is one table, by columns. The page sorts, filters and draws it; the numbers are the report's own.
type Table struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Group   string   `json:"group"`
	Aside   string   `json:"aside,omitempty"` // what the numbers are of
	Columns []Column `json:"columns"`
	Rows    int      `json:"rows"`
	Sort    int      `json:"sort"` // the column by which rows are ordered at first, largest first; -1 as they come
}

// Column is one column: texts where the unit is text or place, else values. A value that is not known is null.
type Column struct {
	Head   string     `json:"head"`
	Unit   string     `json:"unit"`
	Texts  []string   `json:"texts,omitempty"`
	Values []*float64 `json:"values,omitempty"`
	Bar    bool       `json:"bar,omitempty"`  // cells are drawn with bars
	Sum    bool       `json:"sum,omitempty"`  // values of different rows may be added up
	Find   bool       `json:"find,omitempty"` // a row leads to its name in the timeline
}

// holds says whether a text of the table contains find, as the page's filter does.
func (t *Table) holds(find string) bool {
	for i := range t.Columns {
		if slices.ContainsFunc(t.Columns[i].Texts, func(s string) bool {
			return strings.Contains(strings.ToLower(s), strings.ToLower(find))
		}) {
			return true
		}
	}
	return false
}

// column describes a column of a table of rows of type T.
type column[T any] struct {
	Column
	text  func(*T) string
	value func(*T) *float64
}

func text[T any](head string, get func(*T) string) column[T] {
	return column[T]{Column: Column{Head: head, Unit: unitText}, text: get}
}

// name is the text by which the timeline knows a row.
func name[T any](head string, get func(*T) string) column[T] {
	c := text(head, get)
	c.Find = true
	return c
}

func place[T any](head string, get func(*T) (file string, line int)) column[T] {
	return column[T]{Column: Column{Head: head, Unit: unitPlace}, text: func(r *T) string { return placeText(get(r)) }}
}

func number[T any](head, unit string, get func(*T) float64) column[T] {
	return perhaps(head, unit, func(r *T) *float64 { v := get(r); return &v })
}

func count[T any](head string, get func(*T) int64) column[T] {
	return number(head, unitCount, func(r *T) float64 { return float64(get(r)) })
}

func perhaps[T any](head, unit string, get func(*T) *float64) column[T] {
	return column[T]{Column: Column{Head: head, Unit: unit}, value: get}
}

// bar is a column drawn with bars.
func bar[T any](c column[T]) column[T] {
	c.Bar = true
	return c
}

// sum is a column whose values can be added up: no time is in two rows.
func sum[T any](c column[T]) column[T] {
	c.Sum = true
	return c
}

// rank is a column of ranks.
func rank[T any](get func(*T) *int) column[T] {
	return perhaps("rank", unitCount, func(r *T) *float64 { return fromInt(get(r)) })
}

// tableOf makes a table. Columns that say nothing in any row are left out.
func tableOf[T any](name, title, group, aside string, rows []T, columns ...column[T]) Table {
	t := Table{Name: name, Title: title, Group: group, Aside: aside, Rows: len(rows), Sort: -1, Columns: []Column{}}
	for _, c := range columns {
		if fillColumn(&c, rows) {
			if c.Bar && t.Sort < 0 {
				t.Sort = len(t.Columns)
			}
			t.Columns = append(t.Columns, c.Column)
		}
	}
	return t
}

// fillColumn reads a column's cells and says whether any is known, and not all are 0.
func fillColumn[T any](c *column[T], rows []T) (says bool) {
	for i := range rows {
		if c.text != nil {
			s := c.text(&rows[i])
			c.Texts = append(c.Texts, s)
			says = says || s != ""
			continue
		}
		v := c.value(&rows[i])
		c.Values = append(c.Values, v)
		says = says || v != nil && (*v != 0 || c.Head == "rank")
	}
	return says
}
