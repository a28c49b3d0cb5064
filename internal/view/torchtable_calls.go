package view

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// CallsTableOptions choose the rows of a cProfile table.
type CallsTableOptions struct {
	SortBy    string // one of CallSortKeys; "" is "tottime"
	RowLimit  int    // 0 or less: all
	StripDirs bool   // file names without their directories
}

// callSort is an order of a cProfile table: pstats' name for it, and the comparison.
type callSort struct {
	title   string
	compare func(a, b *model.CallFunction) int
}

// callSorts are pstats' sort keys.
var callSorts = map[string]callSort{
	"tottime":  {"internal time", func(a, b *model.CallFunction) int { return cmp.Compare(b.Own, a.Own) }},
	"cumtime":  {"cumulative time", func(a, b *model.CallFunction) int { return cmp.Compare(b.Cumulative, a.Cumulative) }},
	"ncalls":   {"call count", func(a, b *model.CallFunction) int { return cmp.Compare(b.Calls, a.Calls) }},
	"pcalls":   {"primitive call count", func(a, b *model.CallFunction) int { return cmp.Compare(b.Primitive, a.Primitive) }},
	"name":     {"function name", func(a, b *model.CallFunction) int { return cmp.Compare(a.Name, b.Name) }},
	"filename": {"file name", func(a, b *model.CallFunction) int { return cmp.Compare(a.File, b.File) }},
	"line":     {"line number", func(a, b *model.CallFunction) int { return cmp.Compare(a.Line, b.Line) }},
}

// callSortAliases are other names that pstats accepts.
var callSortAliases = map[string]string{"time": "tottime", "cumulative": "cumtime", "calls": "ncalls", "file": "filename", "module": "filename"}

// CallSortKeys lists the keys that CallsTable sorts by, those of Python's pstats.
func CallSortKeys() []string {
	var keys []string
	for k := range callSorts {
		keys = append(keys, k)
	}
	for k := range callSortAliases {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// CallsTable writes exact calls in the form of Python's pstats.print_stats. Equal rows keep the file's order.
func CallsTable(w io.Writer, c *model.Calls, opt CallsTableOptions) error {
	key := opt.SortBy
	if key == "" {
		key = "tottime"
	}
	if alias, ok := callSortAliases[key]; ok {
		key = alias
	}
	order, ok := callSorts[key]
	if !ok {
		return fmt.Errorf("sort calls by %q: no such key; there are %s", opt.SortBy, strings.Join(CallSortKeys(), ", "))
	}
	rows := make([]*model.CallFunction, len(c.Functions))
	var calls, primitive int64
	for i := range c.Functions {
		rows[i] = &c.Functions[i]
		calls += rows[i].Calls
		primitive += rows[i].Primitive
	}
	slices.SortStableFunc(rows, order.compare)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "         %d function calls ", calls)
	if calls != primitive {
		fmt.Fprintf(out, "(%d primitive calls) ", primitive)
	}
	fmt.Fprintf(out, "in %s seconds\n\n   Ordered by: %s\n", fixed(c.Total().Seconds(), 3), order.title)
	if n := opt.RowLimit; n > 0 && n < len(rows) {
		fmt.Fprintf(out, "   List reduced from %d to %d due to restriction <%d>\n", len(rows), n, n)
		rows = rows[:n]
	}
	fmt.Fprint(out, "\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n")
	for _, f := range rows {
		writeCall(out, f, opt.StripDirs)
	}
	fmt.Fprint(out, "\n\n")
	return out.Flush()
}

func writeCall(w io.Writer, f *model.CallFunction, strip bool) {
	count := fmt.Sprint(f.Calls)
	if f.Calls != f.Primitive {
		count += fmt.Sprint("/", f.Primitive)
	}
	per := func(d model.Dur, n int64) string {
		if n == 0 {
			return strings.Repeat(" ", 8)
		}
		return fmt.Sprintf("%8.3f", d.Seconds()/float64(n))
	}
	fmt.Fprintf(w, "%9s %8.3f %s %8.3f %s %s\n", count, f.Own.Seconds(), per(f.Own, f.Calls), f.Cumulative.Seconds(), per(f.Cumulative, f.Primitive), callName(f, strip))
}

// callName is file:line(function), or {function} for functions written in C.
func callName(f *model.CallFunction, strip bool) string {
	if f.File == "~" && f.Line == 0 {
		if inner, ok := strings.CutPrefix(f.Name, "<"); ok && strings.HasSuffix(inner, ">") {
			return "{" + strings.TrimSuffix(inner, ">") + "}"
		}
		return f.Name
	}
	file := f.File
	if strip {
		file = file[strings.LastIndexAny(file, `/\`)+1:]
	}
	return fmt.Sprintf("%s:%d(%s)", file, f.Line, f.Name)
}

// callRows are the first functions in the order of one of callSorts; limit 0 or less is all.
func callRows(functions []model.CallFunction, by string, limit int) []CallRow {
	order := make([]*model.CallFunction, len(functions))
	for i := range functions {
		order[i] = &functions[i]
	}
	slices.SortStableFunc(order, callSorts[by].compare)
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
