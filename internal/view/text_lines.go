package view

import (
	"fmt"

	"bottleneck/internal/report"
	"bottleneck/internal/units"
)

// usualCounted is how many functions have their lines printed unless more are asked for.
const usualCounted = 8

// countedLines prints each function as kernprof does: hits and time of each line beside its text, and beside them what the samples of the
// same run say.
func (p *printer) countedLines() {
	total := 0.0
	for i := range p.r.CountedLines {
		total += p.r.CountedLines[i].TotalS
	}
	if len(p.r.CountedLines) == 0 {
		return
	}
	p.heading("Lines", fmt.Sprintf("%s in the measured functions, calls included; what counting cost is in it", units.Seconds(total)))
	p.line("Timer unit: 1e-06 s")
	shown := p.rows(len(p.r.CountedLines), usualCounted)
	for i := range p.r.CountedLines[:shown] {
		p.countedFunc(&p.r.CountedLines[i])
	}
	if more := len(p.r.CountedLines) - shown; more > 0 {
		p.line("… and %s more; --row-limit -1 shows all", units.Counted(more, "function"))
	}
}

func (p *printer) countedFunc(f *report.CountedFunc) {
	p.out.WriteByte('\n')
	p.line("Total time: %s", units.Seconds(f.TotalS))
	p.line("File: %s", f.File)
	place := ""
	if f.Line > 0 {
		place = fmt.Sprintf(" at line %d", f.Line)
	}
	p.line("Function: %s%s", f.Function, place)
	if f.DeviceUs != nil {
		p.line("Device time: %s a step, of kernels and copies that it launched in traced steps", units.Seconds(*f.DeviceUs/1e6))
	}
	columns := []column[report.CountedLine]{
		{"Line #", func(l *report.CountedLine) string { return fmt.Sprint(l.Line) }, number},
		{"Hits", func(l *report.CountedLine) string { return hit(l, fmt.Sprint(l.Hits)) }, number},
		{"Time", func(l *report.CountedLine) string { return hit(l, fmt.Sprintf("%.1f", l.TimeS*1e6)) }, number},
		{"Per Hit", func(l *report.CountedLine) string {
			return hit(l, fmt.Sprintf("%.1f", l.TimeS*1e6/float64(max(l.Hits, 1))))
		}, number},
		{"% Time", func(l *report.CountedLine) string { return hit(l, fmt.Sprintf("%.1f", 100*l.Share)) }, number},
	}
	if f.SampledS != nil {
		columns = append(columns, column[report.CountedLine]{"% sampled", func(l *report.CountedLine) string {
			if l.Sampled == nil {
				return ""
			}
			return fmt.Sprintf("%.1f", 100**l.Sampled)
		}, number})
	}
	if f.DeviceUs != nil {
		columns = append(columns, column[report.CountedLine]{"Device µs/step", func(l *report.CountedLine) string {
			if l.DeviceUs == nil {
				return ""
			}
			return fmt.Sprintf("%.1f", *l.DeviceUs)
		}, number})
	}
	writeTable(p, append(columns, column[report.CountedLine]{"Line Contents",
		func(l *report.CountedLine) string { return l.Source }, rest}), f.Lines)
	for _, note := range f.Notes {
		p.wrap("  ", "    ", note)
	}
}

// hit is empty for a line that never ran.
func hit(l *report.CountedLine, text string) string {
	if l.Hits == 0 {
		return ""
	}
	return text
}
