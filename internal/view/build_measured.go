package view

import (
	"strings"

	"bottleneck/internal/analyse/cause"
)

// measured puts measured prices into the document.
func (b *builder) measured() { b.r.Measured = b.opt.Measured }

// fixes are the measured prices as rules take them.
func (m *Measured) fixes() (out []cause.MeasuredFix) {
	for _, p := range m.Prices {
		out = append(out, cause.MeasuredFix{Fix: p.Fix, Ops: p.Ops, SavedMs: p.SavedMs, OfMs: p.OfMs})
	}
	return out
}

// measured prints what was measured after the program's end.
func (p *printer) measured() {
	if p.r.Measured == nil {
		return
	}
	title, rest, _ := strings.Cut(MeasuredText(p.r.Measured), "\n")
	heading, aside, _ := strings.Cut(title, "  ")
	p.heading(heading, aside)
	for line := range strings.Lines(rest) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
}
