package page

import (
	"bottleneck/internal/report"
)

func pythonTables(r *report.Report) []Table {
	py := r.Python
	if py == nil {
		py = &report.Python{}
	}
	of := func(s float64) *float64 { return ratio(s, py.ScopeS) }
	tables := []Table{
		tableOf("lines", "Lines", groupPython, py.Scope+"; own time of your lines includes the library code that they called", py.Lines,
			place("line", func(l *report.LineRow) (string, int) { return l.File, l.Line }),
			text("source", func(l *report.LineRow) string { return l.Source }),
			sum(bar(number("own", unitTime, func(l *report.LineRow) float64 { return l.SelfS * 1e6 }))),
			sum(perhaps("own share", unitShare, func(l *report.LineRow) *float64 { return of(l.SelfS) })),
			bar(number("total", unitTime, func(l *report.LineRow) float64 { return l.TotalS * 1e6 })),
			text("function", func(l *report.LineRow) string { return l.Function })),
		tableOf("functions", "Functions", groupPython, py.Scope+"; the interval is where 95 of 100 such recordings have the share",
			py.Functions, text("function", func(f *report.FuncRow) string { return f.Function }),
			place("at", func(f *report.FuncRow) (string, int) { return f.File, f.Line }),
			sum(bar(number("own", unitTime, func(f *report.FuncRow) float64 { return f.SelfS * 1e6 }))),
			bar(number("total", unitTime, func(f *report.FuncRow) float64 { return f.TotalS * 1e6 })),
			perhaps("total share", unitShare, func(f *report.FuncRow) *float64 { return of(f.TotalS) }),
			number("at least", unitShare, func(f *report.FuncRow) float64 { return f.ShareLow }),
			number("at most", unitShare, func(f *report.FuncRow) float64 { return f.ShareHigh })),
		callTable("line-times", "Exact line times", "exact times by line, calls included", r.Lines),
	}
	if n := py.Native; n != nil {
		tables = append(tables, nativeTable(n))
	}
	return append(tables, tableOf("processes", "Processes", groupRun, "every process that was sampled or traced", py.Processes,
		number("pid", unitNumber, func(p *report.ProcessRow) float64 { return float64(p.PID) }),
		text("role", func(p *report.ProcessRow) string { return p.Role }),
		rank(func(p *report.ProcessRow) *int { return p.Rank }),
		sum(count("samples", func(p *report.ProcessRow) int64 { return int64(p.Samples) })),
		number("on a CPU", unitShare, func(p *report.ProcessRow) float64 { return p.CPUPart }),
		text("command", func(p *report.ProcessRow) string { return p.Command })))
}

func nativeTable(n *report.Native) Table {
	caller := func(f *report.NativeRow) report.Where {
		if f.Caller == nil {
			return report.Where{}
		}
		return *f.Caller
	}
	return tableOf("native", "Native functions", groupPython,
		"functions of C and C++ libraries, and the Python line that called each most", n.Functions,
		text("function", func(f *report.NativeRow) string { return f.Function }),
		text("library", func(f *report.NativeRow) string { return f.Library }),
		sum(bar(number("own", unitTime, func(f *report.NativeRow) float64 { return f.SelfS * 1e6 }))),
		bar(number("total", unitTime, func(f *report.NativeRow) float64 { return f.TotalS * 1e6 })),
		number("at least", unitShare, func(f *report.NativeRow) float64 { return f.ShareLow }),
		number("at most", unitShare, func(f *report.NativeRow) float64 { return f.ShareHigh }),
		place("called at", func(f *report.NativeRow) (string, int) { return caller(f).File, caller(f).Line }),
		text("source", func(f *report.NativeRow) string { return caller(f).Source }))
}
