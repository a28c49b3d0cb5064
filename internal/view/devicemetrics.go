package view

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNoMetrics says that no file holds counters of a device.
var ErrNoMetrics = errors.New("the input holds no hardware counters of a device")

// deviceMetric is one counter of all launches of a kernel.
type deviceMetric struct {
	kernel, name, unit, meaning string
	launches                    int64
	sum, highest                float64
}

// DeviceMetrics writes what nvprof's --analysis-metrics, Nsight Compute, rocprof or CUPTI's range profiler counted, by kernel, and
// what each counter means.
func DeviceMetrics(w io.Writer, s *model.Session, opt TextOptions) error {
	rows := append(rangeMetrics(s), fileMetrics(s)...)
	if len(rows) == 0 {
		return ErrNoMetrics
	}
	for i := range rows {
		rows[i].meaning = cmp.Or(naming.CounterMeaning(rows[i].name), rows[i].meaning)
	}
	shown := rows[:rowLimit(len(rows), opt)]
	p := newPrinter(&report.Report{}, TextOptions{Width: wholeNames})
	p.heading("Hardware counters", "by kernel; means are of a launch")
	writeKnown(p, []column[deviceMetric]{
		{"kernel", func(m *deviceMetric) string { return units.Clip(wholeName(m.kernel, opt), shortKernel(opt)) }, 0},
		{"counter", func(m *deviceMetric) string { return units.Printable(m.name) }, 0},
		{"launches", func(m *deviceMetric) string { return units.Count(m.launches) }, number},
		{"mean", func(m *deviceMetric) string { return fmt.Sprintf("%.4g", m.sum/float64(max(m.launches, 1))) }, number},
		{"highest", func(m *deviceMetric) string { return fmt.Sprintf("%.4g", m.highest) }, number},
		{"unit", func(m *deviceMetric) string { return cmp.Or(units.Printable(m.unit), unknown) }, 0},
		{"meaning", func(m *deviceMetric) string { return cmp.Or(units.Printable(m.meaning), unknown) }, 0},
	}, shown)
	if more := len(rows) - len(shown); more > 0 {
		p.line("  … and %s more", units.Count(int64(more)))
	}
	return p.flush(w)
}

func shortKernel(opt TextOptions) int {
	if opt.All {
		return wholeNames
	}
	return 40
}

// rangeMetrics sum up the counters that stand in traces, heaviest kernels as they come.
func rangeMetrics(s *model.Session) []deviceMetric {
	type key struct{ kernel, name model.Str }
	index := map[key]int{}
	var out []deviceMetric
	for _, t := range s.Traces {
		for i := range t.Ranges {
			r := &t.Ranges[i]
			at, known := index[key{r.Name, r.Key}]
			if !known {
				at = len(out)
				index[key{r.Name, r.Key}] = at
				out = append(out, deviceMetric{kernel: s.Strings.Text(r.Name), name: s.Strings.Text(r.Key), highest: r.Value})
			}
			m := &out[at]
			m.launches++
			m.sum += r.Value
			m.highest = max(m.highest, r.Value)
		}
	}
	slices.SortStableFunc(out, func(a, b deviceMetric) int {
		return cmp.Or(cmp.Compare(a.kernel, b.kernel), cmp.Compare(a.name, b.name))
	})
	return out
}

func fileMetrics(s *model.Session) (out []deviceMetric) {
	for _, t := range s.FileTables {
		if t.Name != "metrics" {
			continue
		}
		for _, row := range t.Rows {
			launches := max(int64(row[3].Number), 1)
			out = append(out, deviceMetric{kernel: row[0].Text, name: row[1].Text, unit: row[2].Text, launches: launches,
				sum: row[4].Number * float64(launches), highest: row[5].Number, meaning: row[6].Text})
		}
	}
	return out
}
