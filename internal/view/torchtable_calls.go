package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// CallsTableOptions choose the rows of a cProfile table.
type CallsTableOptions struct {
	SortBy    string // one of CallSortKeys; "" is "tottime"
	RowLimit  int    // 0 or less: all
	StripDirs bool   // file names without their directories
}

// callSortAliases are other names that pstats accepts.
var callSortAliases = map[string]string{"time": "tottime", "cumulative": "cumtime", "calls": "ncalls", "file": "filename",
	"module": "filename"}

// CallSortKeys lists the keys that CallsTable sorts by, those of Python's pstats.
func CallSortKeys() []string {
	var keys []string
	for k := range report.CallSorts {
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
	order, ok := report.CallSorts[key]
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
	slices.SortStableFunc(rows, order.Compare)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "         %d function calls ", calls)
	if calls != primitive {
		fmt.Fprintf(out, "(%d primitive calls) ", primitive)
	}
	fmt.Fprintf(out, "in %s seconds\n\n   Ordered by: %s\n", fixed(c.Total().Seconds(), 3), order.Title)
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
	fmt.Fprintf(w, "%9s %8.3f %s %8.3f %s %s\n", count, f.Own.Seconds(), per(f.Own, f.Calls), f.Cumulative.Seconds(),
		per(f.Cumulative, f.Primitive), callName(f, strip))
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
