package view

import (
	"slices"
	"strings"
)

// column is one column of a text table.
type column struct {
	head  string
	right bool // numbers
	wide  bool // takes the width that is left; at most one
	left  bool // cut at the left (paths)
}

// table writes rows under their headings; the wide column takes what the others leave of the width.
func (p *printer) table(cols []column, rows [][]string) { p.tableWith(cols, rows, nil) }

// tableWith is table with a line of more below each row that has one.
func (p *printer) tableWith(cols []column, rows [][]string, below []string) {
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = textWidth(c.head)
		for _, r := range rows {
			widths[i] = max(widths[i], textWidth(r[i]))
		}
	}
	total := 2
	for i := range cols {
		total += widths[i] + 2
	}
	for i, c := range cols { // one long name leaves room for the wide column
		if most := max(p.width*2/5, 24); !c.wide && !c.right && total > p.width+2 && widths[i] > most {
			total -= widths[i] - most
			widths[i] = most
		}
	}
	for i, c := range cols {
		if c.wide && total > p.width+2 {
			widths[i] = max(widths[i]-(total-p.width-2), 16)
		}
	}
	head := make([]string, len(cols))
	for i, c := range cols {
		head[i] = c.head
	}
	p.out.WriteString(p.paint(dim, p.tableLine(cols, widths, head)) + "\n")
	for i, r := range rows {
		p.line("%s", p.tableLine(cols, widths, r))
		if i < len(below) && below[i] != "" {
			p.wrap("      ", "        ", below[i])
		}
	}
}

func (p *printer) tableLine(cols []column, widths []int, cells []string) string {
	var b strings.Builder
	for i, c := range cols {
		b.WriteString("  ")
		cell := clip(cells[i], widths[i])
		if c.left {
			cell = clipLeft(cells[i], widths[i])
		}
		if c.right {
			b.WriteString(strings.Repeat(" ", max(widths[i]-textWidth(cell), 0)))
			b.WriteString(cell)
		} else if i == len(cols)-1 {
			b.WriteString(cell)
		} else {
			b.WriteString(pad(cell, widths[i]))
		}
	}
	return strings.TrimRight(clip(b.String(), p.width), " ")
}

// knownTable is table without the columns that hold "-" in every row.
func (p *printer) knownTable(cols []column, rows [][]string) {
	var keep []int
	for i := range cols {
		if slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "-" }) {
			keep = append(keep, i)
		}
	}
	kept := make([]column, len(keep))
	for j, i := range keep {
		kept[j] = cols[i]
	}
	short := make([][]string, len(rows))
	for n, r := range rows {
		short[n] = make([]string, len(keep))
		for j, i := range keep {
			short[n][j] = r[i]
		}
	}
	p.table(kept, short)
}
