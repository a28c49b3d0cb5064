package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// row is one number beside its bound.
type row struct {
	what, plain, profiled, ratio string
	value, bound                 float64 // broken where value > bound, or < bound for atLeast
	boundText                    string
	atLeast                      bool
}

func (r row) broken() bool {
	if r.atLeast {
		return r.value < r.bound
	}
	return r.value > r.bound || math.IsNaN(r.value)
}

func helpRow(seconds float64) row {
	return row{what: "bottleneck --help", profiled: ms(seconds), value: seconds, bound: 0.020, boundText: "≤ 20 ms"}
}

// rows are the numbers of one example.
func (m *measured) rows() []row {
	plain, profiled := column(m.plain, wall), column(m.profiled, wall)
	ratio := pairedRatio(plain, profiled)
	most := 1.05*median(plain) + 2
	rows := []row{{
		what: m.name + ": wall time", plain: seconds(median(plain)), profiled: seconds(median(profiled)), ratio: ratio.String(),
		value: median(profiled), bound: most, boundText: fmt.Sprintf("≤ 1.05 × plain + 2 s = %.1f s", most),
	}}
	if tails := column(m.plain, func(o outcome) float64 { return o.tail }); slices.Min(tails) > 0 {
		profiledTails := column(m.profiled, func(o outcome) float64 { return o.tail })
		rows = append(rows, tailRow(m.name, tails, profiledTails))
	}
	pause := slices.Max(column(m.profiled, func(o outcome) float64 { return o.pause }))
	extra := median(column(m.profiled, peak)) - median(column(m.plain, peak))
	report := median(column(m.profiled, func(o outcome) float64 { return o.wall - o.program }))
	launcher := slices.Max(column(m.profiled, func(o outcome) float64 { return float64(o.launcher) }))
	traced := slices.Min(column(m.profiled, func(o outcome) float64 { return float64(o.traced) }))
	baseline := slices.Min(column(m.profiled, func(o outcome) float64 { return float64(o.baseline) }))
	return append(rows,
		row{what: m.name + ": longest pause", profiled: ms(pause), value: pause, bound: 0.5, boundText: "≤ 500 ms"},
		row{what: m.name + ": memory of the program", plain: mb(median(column(m.plain, peak))), profiled: mb(median(column(m.profiled, peak))),
			value: extra, bound: 100e6, boundText: "≤ plain + 100 MB"},
		row{what: m.name + ": memory of bottleneck", profiled: mb(launcher), value: launcher, bound: 100e6, boundText: "≤ 100 MB"},
		row{what: m.name + ": end to report", profiled: ms(report), value: report, bound: 1, boundText: "≤ 1 s"},
		row{what: m.name + ": traced steps", profiled: fmt.Sprint(traced), value: traced, bound: 3, boundText: "≥ 3", atLeast: true},
		row{what: m.name + ": baseline steps", profiled: fmt.Sprint(baseline), value: baseline, bound: 20, boundText: "≥ 20", atLeast: true})
}

// tailRow compares the second halves; the bound is on the upper end of the ratio's interval and needs 20 pairs.
func tailRow(name string, plain, profiled []float64) row {
	ratio := pairedRatio(plain, profiled)
	r := row{what: name + ": second half", plain: seconds(median(plain)), profiled: seconds(median(profiled)), ratio: ratio.String(),
		value: ratio.high, bound: 1.02, boundText: "upper end ≤ 1.02"}
	if len(plain) < 20 {
		r.bound, r.boundText = math.Inf(1), fmt.Sprintf("upper end ≤ 1.02, needs 20 pairs, has %d", len(plain))
		r.value = ratio.mid
	}
	return r
}

func wall(o outcome) float64 { return o.wall }
func peak(o outcome) float64 { return float64(o.peak) }

func column(outcomes []outcome, get func(outcome) float64) []float64 {
	values := make([]float64, len(outcomes))
	for i, o := range outcomes {
		values[i] = get(o)
	}
	return values
}

func ms(s float64) string      { return fmt.Sprintf("%.1f ms", s*1e3) }
func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }
func mb(b float64) string      { return fmt.Sprintf("%.0f MB", b/1e6) }

func countBroken(rows []row) (n int) {
	for _, r := range rows {
		if r.broken() {
			n++
		}
	}
	return n
}

// printRows writes a table, under a title where there is one.
func printRows(w io.Writer, rows []row, title string) {
	if title != "" {
		fmt.Fprintf(w, "\n%s\n", title)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tplain\tprofiled\tratio (95 %)\tbound\t")
	for _, r := range rows {
		verdict := "kept"
		if r.broken() {
			verdict = "BROKEN"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.plain, r.profiled, r.ratio, r.boundText, verdict)
	}
	t.Flush()
}
