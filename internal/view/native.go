package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
)

// libraryText and callerText are how wide a library and a line are beside a function's name.
const libraryText, callerText = 16, 20

func (p *printer) native() {
	py := p.r.Python
	if py == nil || py.Native == nil || len(py.Native.Functions) == 0 {
		return
	}
	n := py.Native
	p.heading("Top native functions", fmt.Sprintf("%s: native frames in %s of %s samples; share: of the total, 95 %% interval", py.Scope,
		units.Count(int64(n.Read)), units.Count(int64(n.Samples))))
	writeKnown(p, nativeColumns, n.Functions[:p.rows(len(n.Functions), 8)])
}

var nativeColumns = []column[report.NativeRow]{
	{"own", func(f *report.NativeRow) string { return units.Seconds(f.SelfS) }, number},
	{"total", func(f *report.NativeRow) string { return units.Seconds(f.TotalS) }, number},
	{"share", func(f *report.NativeRow) string {
		return fmt.Sprintf("%.0f–%.0f %%", f.ShareLow*100, f.ShareHigh*100)
	}, number},
	{"function", func(f *report.NativeRow) string { return report.ShortNative(f.Function) }, rest | tail},
	{"library", nativeLibrary, 0},
	{"called at", nativeCaller, 0},
}

func nativeLibrary(f *report.NativeRow) string {
	if f.Library == "" {
		return unknown
	}
	return units.Clip(report.ShortLibrary(f.Library), libraryText)
}

func nativeCaller(f *report.NativeRow) string {
	if f.Caller == nil {
		return unknown
	}
	return units.ClipLeft(report.FileLine(report.Base(f.Caller.File), f.Caller.Line), callerText)
}
