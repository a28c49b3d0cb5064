package view

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
)

// classicRows is how many rows each table of the classic report has.
const classicRows = 15

// Classic writes the report in the four sections of the old torch.utils.bottleneck, and a fifth with what its documentation asked
// the reader to work out: whether the CPU or the device bounds the program, and which table to look at. calls may be nil and
// rows empty: their sections then say what is missing. The rows are sorted twice, in place.
func Classic(w io.Writer, r *report.Report, debug bool, calls *model.Calls, rows []TorchRow, table TorchTableOptions) error {
	out := bufio.NewWriter(w)
	r = report.PrintableCopy(r)
	classicHeading(out, "Environment Summary")
	classicEnvironment(out, &r.Environment, debug)
	classicHeading(out, "cProfile output")
	if calls == nil {
		fmt.Fprint(out, "Calls were not counted: record with --classic or --calls.\n\n")
	} else if err := CallsTable(out, calls, CallsTableOptions{RowLimit: classicRows, StripDirs: false}); err != nil {
		return err
	}
	table.RowLimit = classicRows
	onDevice := slices.ContainsFunc(rows, func(row TorchRow) bool { return row.Device > 0 })
	for _, mode := range []struct{ title, key string }{{"CPU", "self_cpu_time_total"}, {"device", "self_device_time_total"}} {
		classicHeading(out, "autograd profiler output ("+mode.title+" mode)")
		switch {
		case len(rows) == 0:
			fmt.Fprint(out, "No operators were traced.\n\n")
			continue
		case mode.title == "device" && !onDevice:
			fmt.Fprint(out, "No work of a device was traced.\n\n")
			continue
		}
		fmt.Fprintf(out, "        top %d events sorted by %s\n\n", classicRows, mode.key)
		table.SortBy = mode.key
		if err := TorchTable(out, rows, table); err != nil {
			return err
		}
		fmt.Fprint(out, "\n")
	}
	classicHeading(out, "Which of them to look at")
	for _, line := range classicJudgement(r, onDevice, len(rows) > 0, calls != nil) {
		fmt.Fprintf(out, "%s\n", line)
	}
	return out.Flush()
}

func classicHeading(w io.Writer, title string) {
	line := strings.Repeat("-", 80)
	fmt.Fprintf(w, "%s\n  %s\n%s\n", line, title, line)
}

func classicEnvironment(w io.Writer, e *report.Environment, debug bool) {
	known := func(text string) string {
		if text == "" {
			return "(unknown)"
		}
		return text
	}
	build := ""
	if debug {
		build = " DEBUG"
	}
	compiled := "not compiled w/ CUDA"
	switch {
	case e.HIP != "":
		compiled = "compiled w/ ROCm " + e.HIP
	case e.CUDA != "":
		compiled = "compiled w/ CUDA " + e.CUDA
	}
	fmt.Fprintf(w, "PyTorch %s%s %s\n", known(e.Torch), build, compiled)
	fmt.Fprintf(w, "Running with Python %s", known(e.Python))
	for _, g := range e.GPUs {
		fmt.Fprintf(w, ", GPU %d: %s", g.Index, g.Name)
	}
	if debug {
		fmt.Fprint(w, "\nThis is a debug build: its times say little about a release's.")
	}
	fmt.Fprint(w, "\n\nInstalled packages that matter:\n")
	for _, p := range e.Packages {
		fmt.Fprintf(w, "%s==%s\n", p.Name, p.Version)
	}
	fmt.Fprint(w, "\n")
}

// deviceBusyEnough is the share of the traced time from which on a device is what the program waits for.
const deviceBusyEnough = 0.8

// classicJudgement says what bounds the program, which table shows it, and how the tables' numbers are to be read.
func classicJudgement(r *report.Report, onDevice, operators, calls bool) []string {
	lines := []string{"In one sentence: " + r.Verdict.Sentence}
	var busy, span float64
	for i := range r.GPU {
		busy += r.GPU[i].BusyUs
		span += r.GPU[i].SpanUs
	}
	switch {
	case span > 0 && busy/span >= deviceBusyEnough:
		lines = append(lines, fmt.Sprintf("GPU-bound: the device was busy for %s of the traced time; look at the operators in device mode.",
			units.Percent(busy/span)))
	case span > 0:
		lines = append(lines,
			fmt.Sprintf("CPU-bound: the device was busy for %s of the traced time and waited for the CPU otherwise; look at %s.",
				units.Percent(busy/span), classicCPUTable(r, operators, calls)))
	default:
		lines = append(lines, "CPU-bound: no work of a device was recorded; look at "+classicCPUTable(r, operators, calls)+".")
	}
	if onDevice {
		lines = append(lines, "Times of cudaLaunchKernel and its like are what launching took on the CPU, not what the kernels took.")
	}
	if r.Run != nil && len(r.Run.Phases) > 0 && r.Run.Phases[0].Name == "start-up" {
		lines = append(lines,
			fmt.Sprintf(
				"Start-up took %s (imports, and the start of the device); it is part of the cProfile output and of no operator table.",
				units.Seconds(r.Run.Phases[0].ToS)))
	}
	if calls {
		lines = append(lines, "Counting calls slows Python down, so that the cProfile output gives its own time too much weight; "+
			"operators in C++ run as fast as ever.")
	}
	return lines
}

// classicCPUTable names the table that shows most of the CPU's time.
func classicCPUTable(r *report.Report, operators, calls bool) string {
	var ops, python float64
	for _, p := range r.Breakdown {
		switch p.Part {
		case account.PartOps.String():
			ops += p.Ms
		case account.PartPython.String():
			python += p.Ms
		}
	}
	switch {
	case r.Verdict.Bound == "input":
		return "the cProfile output for what loads the data: the program waits for it"
	case !operators || calls && python > ops:
		return "the cProfile output"
	}
	return "the operators in CPU mode"
}
