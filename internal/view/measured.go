package view

import (
	"bottleneck/internal/report"
	"strings"
)

// measured prints what was measured after the program's end.
func (p *printer) measured() {
	if p.r.Measured == nil {
		return
	}
	title, rest, _ := strings.Cut(report.MeasuredText(p.r.Measured), "\n")
	heading, aside, _ := strings.Cut(title, "  ")
	p.heading(heading, aside)
	for line := range strings.Lines(rest) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
}
