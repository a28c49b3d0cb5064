package view

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/units"
)

// Native is what samples with native frames say of the functions of C and C++ libraries.
type Native struct {
	Samples   int         `json:"samples"` // of the same scope as the tables of Python
	Read      int         `json:"read"`    // samples whose native frames were read; the others count for no function
	Functions []NativeRow `json:"functions"`
}

// NativeRow is one native function's time.
type NativeRow struct {
	Function    string  `json:"function"`
	Library     string  `json:"library"`
	SelfS       float64 `json:"self_s"`
	TotalS      float64 `json:"total_s"`
	ShareLow    float64 `json:"share_low"`              // 95 % interval of the total's share
	ShareHigh   float64 `json:"share_high"`             // of the scope
	Caller      *Where  `json:"caller,omitempty"`       // the Python line that called it most
	CallerShare float64 `json:"caller_share,omitempty"` // of the total
}

// native makes the table of native functions from the samples that the tables of Python are of.
func (b *builder) native() {
	if b.r.Python == nil || !b.wanted([]string{"native"}) {
		return
	}
	a := b.res.account
	times := analyse.NativeFunctions(b.s, a)
	if times == nil {
		return
	}
	out := &Native{Samples: times.Samples, Read: times.Native, Functions: []NativeRow{}}
	for i := range times.Functions[:min(len(times.Functions), b.opt.MaxRows)] {
		f := &times.Functions[i]
		low, high := interval(f.Total/a.Total, times.Samples)
		row := NativeRow{Function: f.Function, Library: cleanPath(f.Library), SelfS: f.Self / 1e9, TotalS: f.Total / 1e9, ShareLow: low, ShareHigh: high}
		if f.File != "" {
			row.Caller = &Where{File: cleanPath(f.File), Line: int(f.Line), Function: f.Caller, Source: analyse.SourceLine(b.s.Sources, f.File, int(f.Line))}
			row.CallerShare = f.CallerTime / max(f.Total, 1e-9)
		}
		out.Functions = append(out.Functions, row)
	}
	b.r.Python.Native = out
}

// libraryText and callerText are how wide a library and a line are beside a function's name.
const libraryText, callerText = 16, 20

func (p *printer) native() {
	py := p.r.Python
	if py == nil || py.Native == nil || len(py.Native.Functions) == 0 {
		return
	}
	n := py.Native
	p.heading("Top native functions", fmt.Sprintf("%s: native frames in %s of %s samples; share: of the total, 95 %% interval", py.Scope, units.Count(int64(n.Read)), units.Count(int64(n.Samples))))
	writeKnown(p, nativeColumns, n.Functions[:p.rows(len(n.Functions), 8)])
}

var nativeColumns = []column[NativeRow]{
	{"own", func(f *NativeRow) string { return units.Seconds(f.SelfS) }, number},
	{"total", func(f *NativeRow) string { return units.Seconds(f.TotalS) }, number},
	{"share", func(f *NativeRow) string { return fmt.Sprintf("%.0f–%.0f %%", f.ShareLow*100, f.ShareHigh*100) }, number},
	{"function", func(f *NativeRow) string { return shortNative(f.Function) }, rest | tail},
	{"library", nativeLibrary, 0},
	{"called at", nativeCaller, 0},
}

func nativeLibrary(f *NativeRow) string {
	if f.Library == "" {
		return unknown
	}
	return clip(shortLibrary(f.Library), libraryText)
}

func nativeCaller(f *NativeRow) string {
	if f.Caller == nil {
		return unknown
	}
	return clipLeft(fileLine(base(f.Caller.File), f.Caller.Line), callerText)
}

// shortNative is a C++ name without arguments of templates and calls and without unnamed namespaces.
func shortNative(name string) string {
	short := dropBrackets(strings.ReplaceAll(strings.ReplaceAll(name, "(anonymous namespace)::", ""), "operator()", "operator"))
	if strings.TrimSpace(short) == "" {
		return name
	}
	return short
}

// shortLibrary is a library's file without its path, versions and what else follows the name.
func shortLibrary(file string) string {
	name := base(file)
	for _, end := range []string{".so", ".cpython-", ".abi3"} {
		if i := strings.Index(name, end); i > 0 {
			name = name[:i]
		}
	}
	return name
}
