package tables

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// counterValues are the series of counters that a trace holds, of any kind: each with the number of its values, its bounds,
// and its mean over time, every value holding until the next.
var counterValues = Analysis{
	Name: "counters", Title: "Counters", Aside: "mean over time: a value holds until the next", Needs: "counters",
	Columns: []Column{{"counter", UnitText}, {"of", UnitText}, {"values", UnitCount}, {"lowest", UnitNumber}, {"mean", UnitNumber},
		{"highest", UnitNumber}, {"last", UnitNumber}},
	Rows: counterRows,
}

type counterKey struct{ name, key, pid model.Str }

// counterSeries is one counter while it is summed; at is the time of its last value.
type counterSeries struct {
	key          counterKey
	count        int
	low, high    float64
	area, length float64
	last         float64
	at           model.Time
}

func counterRows(t *model.Trace, s *model.Strings) [][]Cell {
	order := slices.Clone(t.Counters)
	slices.SortStableFunc(order, func(a, b model.CounterEvent) int { return cmp.Compare(a.Time, b.Time) })
	index := map[counterKey]*counterSeries{}
	var list []*counterSeries
	for i := range order {
		c := &order[i]
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			continue
		}
		k := counterKey{c.Name, c.Key, c.PID}
		series := index[k]
		if series == nil {
			series = &counterSeries{key: k, low: c.Value, high: c.Value}
			index[k] = series
			list = append(list, series)
		} else {
			held := float64(c.Time.Sub(series.at))
			series.area, series.length = series.area+held*series.last, series.length+held
		}
		series.count++
		series.low, series.high = min(series.low, c.Value), max(series.high, c.Value)
		series.last, series.at = c.Value, c.Time
	}
	slices.SortStableFunc(list, func(a, b *counterSeries) int {
		return cmp.Or(strings.Compare(s.Text(a.key.name), s.Text(b.key.name)), strings.Compare(s.Text(a.key.key), s.Text(b.key.key)))
	})
	rows := make([][]Cell, 0, len(list))
	for _, c := range list {
		mean := c.last
		if c.length > 0 {
			mean = c.area / c.length
		}
		name := s.Text(c.key.name)
		if key := s.Text(c.key.key); key != "" && key != name {
			name += ", " + key
		}
		rows = append(rows, []Cell{textCell(name), textCell(s.Text(c.key.pid)), numberCell(c.count), numberCell(c.low), numberCell(mean),
			numberCell(c.high), numberCell(c.last)})
	}
	return rows
}
