package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// row is one number beside its goal and what the peers reach. limit is the largest value that reaches the goal; 0 none.
type row struct {
	title               string
	what, goal          string
	value, limit        float64
	format              string
	blocking, pySpy, au float64 // 0: not measured
}

// table collects rows and shows each as it comes.
type table struct {
	rows   []row
	last   string
	costOf []string
}

func (t *table) title(text string) {
	t.last = text
	fmt.Printf("… %s\n", text)
}

func (t *table) add(r row) {
	r.title = t.last
	t.rows = append(t.rows, r)
	fmt.Printf("    %-62s %s   goal %s%s\n", r.what, r.text(r.value), r.goal, r.peersText())
}

func (r row) text(v float64) string { return fmt.Sprintf(r.format, v) }

func (r row) peersText() string {
	text := ""
	for i, v := range []float64{r.pySpy, r.blocking, r.au} {
		if v != 0 {
			text += fmt.Sprintf("   %s %s", []string{"py-spy --nonblocking", "py-spy", "austin"}[i], r.text(v))
		}
	}
	return text
}

func (r row) verdict() string {
	switch {
	case r.limit == 0:
		return ""
	case r.value <= r.limit:
		return "reached"
	}
	return "MISSED"
}

func (t *table) print(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\tbottleneck\tgoal\t\tpy-spy --nonblocking\tpy-spy\taustin")
	for i, r := range t.rows {
		if i == 0 || t.rows[i-1].title != r.title {
			fmt.Fprintf(out, "%s\t\t\t\t\t\t\n", r.title)
		}
		peer := func(v float64) string {
			if v == 0 {
				return "–"
			}
			return r.text(v)
		}
		fmt.Fprintf(out, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.text(r.value), r.goal, r.verdict(), peer(r.pySpy),
			peer(r.blocking), peer(r.au))
	}
	out.Flush()
}
