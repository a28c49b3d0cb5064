package compare

import (
	"bottleneck/internal/report"
	"cmp"
	"math"
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// unexplained is the row of what the others of its kind do not hold.
const unexplained = "unexplained"

// item is what one run spent on one name, in milliseconds of the unit.
type item struct {
	key     string // what rows of both sides are matched by
	name    string
	ms      float64
	calls   float64
	counted bool // calls is known
	where   *report.Place
	text    string
	// family is what items without a counterpart are matched by in the end, the narrowest first.
	family []string
}

// row is an item on both sides.
type row struct {
	kind, name, was, under string
	where                  *report.Place
	text                   string
	runsBefore, runsAfter  []float64 // ms of each run
	callsBefore            float64   // mean over the runs
	callsAfter             float64
	counted                bool
	low, high              *float64
	different              bool
}

// sums are the items of a side by key.
type sums struct {
	runs  int
	order []string
	items map[string]*sum
}

type sum struct {
	item
	ms    []float64 // by run
	calls float64   // mean
}

// collect adds up what each run of a side spent.
func collect(runs []timed, of func(*timed) []item) *sums {
	out := &sums{runs: len(runs), items: map[string]*sum{}}
	for i := range runs {
		for _, it := range of(&runs[i]) {
			s := out.items[it.key]
			if s == nil {
				s = &sum{item: it, ms: make([]float64, len(runs))}
				out.items[it.key] = s
				out.order = append(out.order, it.key)
			}
			s.ms[i] += it.ms
			s.calls += it.calls / float64(len(runs))
			s.counted = s.counted && it.counted
			if s.where == nil {
				s.where, s.text = it.where, it.text
			}
		}
	}
	return out
}

// account makes the rows of one kind. difference is the step's: what the rows do not sum to is their last one.
func account(kind string, before, after *sums, difference float64, by test) []row {
	var rows []row
	if len(before.order)+len(after.order) == 0 {
		return nil
	}
	taken := map[string]bool{}
	for _, key := range after.order {
		b := after.items[key]
		if a := before.items[key]; a != nil {
			taken[key] = true
			rows = append(rows, pair(kind, a, b))
		}
	}
	rows = append(rows, familyRows(kind, before, after, taken)...)
	judgeRows(rows, by)
	slices.SortStableFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(math.Abs(y.difference()), math.Abs(x.difference())), cmp.Compare(x.name, y.name))
	})
	left := difference
	for i := range rows {
		left -= rows[i].difference()
	}
	return append(rows, row{kind: kind, name: unexplained, runsBefore: []float64{0}, runsAfter: []float64{left}})
}

func pair(kind string, a, b *sum) row {
	r := row{kind: kind, name: b.name, where: b.where, text: b.text, runsBefore: a.ms, runsAfter: b.ms, callsBefore: a.calls,
		callsAfter: b.calls, counted: a.counted && b.counted}
	if a.name != b.name {
		r.was = a.name
	}
	if r.where == nil {
		r.where, r.text = a.where, a.text
	}
	return r
}

// familyRows are of what only one side has: items of a family that both sides have are one row, the others have one each.
func familyRows(kind string, before, after *sums, taken map[string]bool) []row {
	left := [2][]*sum{}
	for side, s := range []*sums{before, after} {
		for _, key := range s.order {
			if before.items[key] == nil || after.items[key] == nil {
				left[side] = append(left[side], s.items[key])
			}
		}
	}
	var rows []row
	for level := 0; ; level++ {
		groups, order, deeper := families(left, level)
		for _, name := range order {
			if g := groups[name]; len(g[0]) > 0 && len(g[1]) > 0 {
				rows = append(rows, joined(kind, name, *g, before.runs, after.runs))
				for side := range left {
					left[side] = slices.DeleteFunc(left[side], func(s *sum) bool { return slices.Contains(g[side], s) })
				}
			}
		}
		if !deeper {
			break
		}
	}
	for _, s := range left[0] {
		rows = append(rows, joined(kind, "", [2][]*sum{{s}, nil}, before.runs, after.runs))
	}
	for _, s := range left[1] {
		rows = append(rows, joined(kind, "", [2][]*sum{nil, {s}}, before.runs, after.runs))
	}
	return rows
}

// families groups what is left by the family at a level; deeper says that some have more levels.
func families(left [2][]*sum, level int) (groups map[string]*[2][]*sum, order []string, deeper bool) {
	groups = map[string]*[2][]*sum{}
	for side := range left {
		for _, s := range left[side] {
			if level >= len(s.family) {
				continue
			}
			deeper = true
			name := s.family[level]
			if groups[name] == nil {
				groups[name] = &[2][]*sum{}
				order = append(order, name)
			}
			groups[name][side] = append(groups[name][side], s)
		}
	}
	return groups, order, deeper
}

// joined is one row of several items a side.
func joined(kind, under string, g [2][]*sum, runsBefore, runsAfter int) row {
	r := row{kind: kind, under: under, runsBefore: make([]float64, runsBefore), runsAfter: make([]float64, runsAfter), counted: true}
	names := [2]string{}
	for side, list := range g {
		runs := r.runsBefore
		if side == 1 {
			runs = r.runsAfter
		}
		for i, s := range list {
			names[side] = listed(names[side], s.name, i, len(list))
			for k := range s.ms {
				runs[k] += s.ms[k]
			}
			if side == 0 {
				r.callsBefore += s.calls
			} else {
				r.callsAfter += s.calls
			}
			r.counted = r.counted && s.counted
			if side == 1 && i == 0 || r.where == nil {
				r.where, r.text = s.where, s.text
			}
		}
	}
	switch {
	case names[1] == "":
		r.name = names[0]
	case names[0] != names[1] && names[0] != "":
		r.name, r.was = names[1], names[0]
	default:
		r.name = names[1]
	}
	return r
}

// listed appends a name to a list of which at most three are written out.
func listed(list, name string, at, of int) string {
	switch {
	case at == 0:
		return name
	case at < 3:
		return list + ", " + name
	case at == 3:
		return list + " and " + itoa(of-3) + " more"
	}
	return list
}

func (r *row) difference() float64 { return meanOf(r.runsAfter) - meanOf(r.runsBefore) }

func meanOf(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(max(len(v), 1))
}

// document is the row as it is written. Where calls are counted, the difference is split: more calls at the old price, and the new number
// of calls at the difference of the prices.
func (r *row) document() report.DiffRow {
	out := report.DiffRow{Kind: r.kind, Name: r.name, Was: r.was, Under: r.under, Where: r.where, Text: r.text,
		DifferenceMs: r.difference(), LowMs: r.low, HighMs: r.high, Different: r.different,
		Before: report.DiffCost{Ms: meanOf(r.runsBefore)}, After: report.DiffCost{Ms: meanOf(r.runsAfter)}}
	if r.name == unexplained {
		out.Before, out.After = report.DiffCost{}, report.DiffCost{}
		return out
	}
	if !r.counted {
		return out
	}
	before, after := r.callsBefore, r.callsAfter
	out.Before.Count, out.After.Count = &before, &after
	calls := out.DifferenceMs
	switch {
	case before > 0 && after > 0:
		calls = (after - before) * out.Before.Ms / before
	}
	price := out.DifferenceMs - calls
	out.CallsMs, out.PriceMs = &calls, &price
	return out
}
