package tables

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// rangeCounters are the hardware counters of kernels, where the trace was recorded with CUPTI's range profiler. While it
// records, kernels run one by one and Kineto sees none of them, so a range is named by its kernel and placed by its number:
// the n-th range is the n-th launch, where there are as many of both.
var rangeCounters = Analysis{
	Name: "device-counters", Title: "Hardware counters",
	Aside: "by kernel and the operator that launched it; counters that stay 0 are left out", Needs: "ranges of CUPTI's range profiler",
	Columns: []Column{{"kernel", UnitText}, {"operator", UnitText}, {"counter", UnitText}, {"ranges", UnitCount}, {"total", UnitNumber},
		{"mean", UnitNumber}, {"highest", UnitNumber}},
	Rows: rangeRows,
}

type rangeKey struct{ kernel, op, counter model.Str }

// rangeSum is one counter of all ranges of a kernel.
type rangeSum struct {
	key            rangeKey
	count          int64
	total, highest float64
}

func rangeRows(t *model.Trace, s *model.Strings) [][]Cell {
	launchers := rangeLaunchers(t, s)
	index := map[rangeKey]*rangeSum{}
	var list []*rangeSum
	for i := range t.Ranges {
		c := &t.Ranges[i]
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			continue
		}
		key := rangeKey{kernel: c.Name, counter: c.Key}
		if launchers != nil {
			key.op = launchers[c.Range]
		}
		sum := index[key]
		if sum == nil {
			sum = &rangeSum{key: key, highest: c.Value}
			index[key] = sum
			list = append(list, sum)
		}
		sum.count++
		sum.total += c.Value
		sum.highest = max(sum.highest, c.Value)
	}
	list = slices.DeleteFunc(list, func(c *rangeSum) bool { return c.total == 0 && c.highest == 0 })
	slices.SortStableFunc(list, func(a, b *rangeSum) int {
		return cmp.Or(strings.Compare(s.Text(a.key.counter), s.Text(b.key.counter)), cmp.Compare(b.total, a.total))
	})
	rows := make([][]Cell, 0, len(list))
	for _, c := range list {
		op := textCell(s.Text(c.key.op))
		op.None = c.key.op == 0
		rows = append(rows, []Cell{textCell(s.Text(c.key.kernel)), op, textCell(s.Text(c.key.counter)),
			numberCell(c.count), numberCell(c.total), numberCell(c.total / float64(c.count)), numberCell(c.highest)})
	}
	return rows
}

// rangeLaunchers names the operator that launched each range, nil where launches and ranges do not match one by one.
func rangeLaunchers(t *model.Trace, s *model.Strings) map[int32]model.Str {
	numbers := make([]int32, 0, len(t.Ranges))
	for i := range t.Ranges {
		if n := len(numbers); n == 0 || numbers[n-1] != t.Ranges[i].Range {
			numbers = append(numbers, t.Ranges[i].Range)
		}
	}
	ev, calls := &t.Events, LaunchCalls(t, s)
	if len(calls) != len(numbers) {
		return nil
	}
	slices.SortStableFunc(calls, func(a, b model.EventID) int { return cmp.Compare(ev.Start[a], ev.Start[b]) })
	out := make(map[int32]model.Str, len(calls))
	for i, call := range calls {
		if op := ev.Op[call]; op != model.NoEvent {
			out[numbers[i]] = ev.Name[op]
		}
	}
	return out
}

// LaunchCalls lists the runtime's calls that launch kernels, in the trace's order.
func LaunchCalls(t *model.Trace, s *model.Strings) []model.EventID {
	var calls []model.EventID
	for i, kind := range t.Events.Kind {
		if kind != model.KindRuntime {
			continue
		}
		if name := s.Text(t.Events.Name[i]); strings.Contains(name, "LaunchKernel") || strings.Contains(name, "KernelLaunch") {
			calls = append(calls, model.EventID(i))
		}
	}
	return calls
}
