package report

import (
	"bottleneck/internal/model"
	"cmp"
	"slices"
)

// callSort is an order of a cProfile table: pstats' name for it, and the comparison.
type callSort struct {
	Title   string
	Compare func(a, b *model.CallFunction) int
}

// CallSorts are pstats' sort keys.
var CallSorts = map[string]callSort{
	"tottime":  {"internal time", func(a, b *model.CallFunction) int { return cmp.Compare(b.Own, a.Own) }},
	"cumtime":  {"cumulative time", func(a, b *model.CallFunction) int { return cmp.Compare(b.Cumulative, a.Cumulative) }},
	"ncalls":   {"call count", func(a, b *model.CallFunction) int { return cmp.Compare(b.Calls, a.Calls) }},
	"pcalls":   {"primitive call count", func(a, b *model.CallFunction) int { return cmp.Compare(b.Primitive, a.Primitive) }},
	"name":     {"function name", func(a, b *model.CallFunction) int { return cmp.Compare(a.Name, b.Name) }},
	"filename": {"file name", func(a, b *model.CallFunction) int { return cmp.Compare(a.File, b.File) }},
	"line":     {"line number", func(a, b *model.CallFunction) int { return cmp.Compare(a.Line, b.Line) }},
}

// callRows are the first functions in the order of one of callSorts; limit 0 or less is all.
func callRows(functions []model.CallFunction, by string, limit int) []CallRow {
	order := make([]*model.CallFunction, len(functions))
	for i := range functions {
		order[i] = &functions[i]
	}
	slices.SortStableFunc(order, CallSorts[by].Compare)
	if limit > 0 && limit < len(order) {
		order = order[:limit]
	}
	rows := make([]CallRow, len(order))
	for i, f := range order {
		rows[i] = CallRow{
			File: f.File, Line: int(f.Line), Function: f.Name, Hits: f.Calls, SelfS: f.Own.Seconds(), TotalS: f.Cumulative.Seconds(),
		}
	}
	return rows
}

// LightningCallRows is how many functions of an action are shown unless another limit is asked for.
const LightningCallRows = 15

// ActionCalls are the functions that were counted within a process's actions.
func ActionCalls(s *model.Session, process int) []model.ActionCalls {
	for _, c := range s.Calls {
		if c.Process == process && len(c.Actions) > 0 {
			return c.Actions
		}
	}
	return nil
}
