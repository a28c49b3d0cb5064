package view

import (
	"bottleneck/internal/units"
	"slices"
	"strings"
)

// column is one column of a table whose rows are values of R: what stands over it, what it shows of a row, and how it is laid out.
type column[R any] struct {
	head string
	cell func(r *R) string // unknown ("-") where the row has no such value
	as   layout
}

// layout says how a column is laid out; the zero value is text, cut at its end.
type layout uint8

const (
	number layout = 1 << iota // stands at the right
	rest                      // takes the width that the others leave; at most one column
	tail                      // cut at the left: of paths the end matters
)

// unknown is shown for a value that the data do not have.
const unknown = "-"

// known shows a value in its unit, unknown without one.
func known(v *float64, unit func(float64) string) string {
	if v == nil {
		return unknown
	}
	return unit(*v)
}

// writeTable writes rows under their columns' heads.
func writeTable[R any](p *printer, cols []column[R], rows []R) { writeTableWith(p, cols, rows, nil) }

// writeTableWith is writeTable with a line of more below each row for which below gives one; below may be nil.
func writeTableWith[R any](p *printer, cols []column[R], rows []R, below func(*R) string) {
	heads, layouts, cells := make([]string, len(cols)), make([]layout, len(cols)), make([][]string, len(rows))
	for i, c := range cols {
		heads[i], layouts[i] = c.head, c.as
	}
	for n := range rows {
		cells[n] = make([]string, len(cols))
		for i, c := range cols {
			cells[n][i] = c.cell(&rows[n])
		}
	}
	widths := p.columnWidths(layouts, append([][]string{heads}, cells...))
	p.out.WriteString(p.paint(dim, p.tableLine(layouts, widths, heads)) + "\n")
	for n := range rows {
		p.line("%s", p.tableLine(layouts, widths, cells[n]))
		if below == nil {
			continue
		}
		if more := below(&rows[n]); more != "" {
			p.wrap("      ", "        ", more)
		}
	}
}

// writeKnown is writeTable without the columns that hold unknown in every row.
func writeKnown[R any](p *printer, cols []column[R], rows []R) { writeKnownWith(p, cols, rows, nil) }

// writeKnownWith is writeTableWith without the columns that hold unknown in every row.
func writeKnownWith[R any](p *printer, cols []column[R], rows []R, below func(*R) string) {
	var kept []column[R]
	for _, c := range cols {
		if slices.ContainsFunc(rows, func(r R) bool { return c.cell(&r) != unknown }) {
			kept = append(kept, c)
		}
	}
	writeTableWith(p, kept, rows, below)
}

// columnWidths gives each column what its lines need; where that is more than there is, one long name leaves room for the column that
// takes the rest, and then that column is cut.
func (p *printer) columnWidths(layouts []layout, lines [][]string) []int {
	widths := make([]int, len(layouts))
	total := 2
	for i := range layouts {
		for _, cells := range lines {
			widths[i] = max(widths[i], units.TextWidth(cells[i]))
		}
		total += widths[i] + 2
	}
	for i, l := range layouts {
		if most := max(p.width*2/5, 24); l&(rest|number) == 0 && total > p.width+2 && widths[i] > most {
			total -= widths[i] - most
			widths[i] = most
		}
	}
	for i, l := range layouts {
		if l&rest != 0 && total > p.width+2 {
			widths[i] = max(widths[i]-(total-p.width-2), 16)
		}
	}
	return widths
}

func (p *printer) tableLine(layouts []layout, widths []int, cells []string) string {
	var b strings.Builder
	for i, l := range layouts {
		b.WriteString("  ")
		cell := units.Clip(cells[i], widths[i])
		if l&tail != 0 {
			cell = units.ClipLeft(cells[i], widths[i])
		}
		if l&number != 0 {
			b.WriteString(strings.Repeat(" ", max(widths[i]-units.TextWidth(cell), 0)))
			b.WriteString(cell)
		} else if i == len(layouts)-1 {
			b.WriteString(cell)
		} else {
			b.WriteString(pad(cell, widths[i]))
		}
	}
	return strings.TrimRight(units.Clip(b.String(), p.width), " ")
}
