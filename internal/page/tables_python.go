package page

import "bottleneck/internal/view"

func pythonTables(r *view.Report) []Table {
	py := r.Python
	if py == nil {
		py = &view.Python{}
	}
	of := func(s float64) *float64 { return ratio(s, py.ScopeS) }
	tables := []Table{
		tableOf("lines", "Lines", groupPython, py.Scope+"; own time of your lines includes the library code that they called", py.Lines,
			place("line", func(l *view.LineRow) (string, int) { return l.File, l.Line }),
			text("source", func(l *view.LineRow) string { return l.Source }),
			sum(bar(number("own", unitTime, func(l *view.LineRow) float64 { return l.SelfS * 1e6 }))),
			sum(perhaps("own share", unitShare, func(l *view.LineRow) *float64 { return of(l.SelfS) })),
			bar(number("total", unitTime, func(l *view.LineRow) float64 { return l.TotalS * 1e6 })),
			text("function", func(l *view.LineRow) string { return l.Function })),
		tableOf("functions", "Functions", groupPython, py.Scope+"; the interval is where 95 of 100 such recordings have the share", py.Functions,
			text("function", func(f *view.FuncRow) string { return f.Function }),
			place("at", func(f *view.FuncRow) (string, int) { return f.File, f.Line }),
			sum(bar(number("own", unitTime, func(f *view.FuncRow) float64 { return f.SelfS * 1e6 }))),
			bar(number("total", unitTime, func(f *view.FuncRow) float64 { return f.TotalS * 1e6 })),
			perhaps("total share", unitShare, func(f *view.FuncRow) *float64 { return of(f.TotalS) }),
			number("at least", unitShare, func(f *view.FuncRow) float64 { return f.ShareLow }),
			number("at most", unitShare, func(f *view.FuncRow) float64 { return f.ShareHigh })),
		callTable("line-times", "Exact line times", "exact times by line, calls included", r.Lines),
	}
	if n := py.Native; n != nil {
		tables = append(tables, nativeTable(n))
	}
	return append(tables, tableOf("processes", "Processes", groupRun, "every process that was sampled or traced", py.Processes,
		number("pid", unitNumber, func(p *view.ProcessRow) float64 { return float64(p.PID) }),
		text("role", func(p *view.ProcessRow) string { return p.Role }),
		rank(func(p *view.ProcessRow) *int { return p.Rank }),
		sum(count("samples", func(p *view.ProcessRow) int64 { return int64(p.Samples) })),
		number("on a CPU", unitShare, func(p *view.ProcessRow) float64 { return p.CPUPart }),
		text("command", func(p *view.ProcessRow) string { return p.Command })))
}

func nativeTable(n *view.Native) Table {
	caller := func(f *view.NativeRow) view.Where {
		if f.Caller == nil {
			return view.Where{}
		}
		return *f.Caller
	}
	return tableOf("native", "Native functions", groupPython,
		"functions of C and C++ libraries, and the Python line that called each most", n.Functions,
		text("function", func(f *view.NativeRow) string { return f.Function }),
		text("library", func(f *view.NativeRow) string { return f.Library }),
		sum(bar(number("own", unitTime, func(f *view.NativeRow) float64 { return f.SelfS * 1e6 }))),
		bar(number("total", unitTime, func(f *view.NativeRow) float64 { return f.TotalS * 1e6 })),
		number("at least", unitShare, func(f *view.NativeRow) float64 { return f.ShareLow }),
		number("at most", unitShare, func(f *view.NativeRow) float64 { return f.ShareHigh }),
		place("called at", func(f *view.NativeRow) (string, int) { return caller(f).File, caller(f).Line }),
		text("source", func(f *view.NativeRow) string { return caller(f).Source }))
}
