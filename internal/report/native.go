package report

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/code"
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
func (b *Builder) native() {
	if b.R.Python == nil || !b.wanted([]string{"native"}) {
		return
	}
	a := b.res.account
	times := account.NativeFunctions(b.S, a)
	if times == nil {
		return
	}
	out := &Native{Samples: times.Samples, Read: times.Native, Functions: []NativeRow{}}
	for i := range times.Functions[:min(len(times.Functions), b.opt.MaxRows)] {
		f := &times.Functions[i]
		low, high := interval(f.Total/a.Total, times.Samples)
		row := NativeRow{Function: f.Function, Library: CleanPath(f.Library), SelfS: f.Self / 1e9, TotalS: f.Total / 1e9,
			ShareLow: low, ShareHigh: high}
		if f.File != "" {
			row.Caller = &Where{File: CleanPath(f.File), Line: int(f.Line), Function: f.Caller,
				Source: code.SourceLine(b.S.Sources, f.File, int(f.Line))}
			row.CallerShare = f.CallerTime / max(f.Total, 1e-9)
		}
		out.Functions = append(out.Functions, row)
	}
	b.R.Python.Native = out
}

// ShortNative is a C++ name without arguments of templates and calls and without unnamed namespaces.
func ShortNative(name string) string {
	short := dropBrackets(strings.ReplaceAll(strings.ReplaceAll(name, "(anonymous namespace)::", ""), "operator()", "operator"))
	if strings.TrimSpace(short) == "" {
		return name
	}
	return short
}

// ShortLibrary is a library's file without its path, versions and what else follows the name.
func ShortLibrary(file string) string {
	name := Base(file)
	for _, end := range []string{".so", ".cpython-", ".abi3"} {
		if i := strings.Index(name, end); i > 0 {
			name = name[:i]
		}
	}
	return name
}
