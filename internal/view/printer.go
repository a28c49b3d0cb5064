package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"io"
	"strings"
)

// printer writes the text report of r; sections are its methods.
type printer struct {
	r       *report.Report
	opt     TextOptions
	width   int
	out     strings.Builder
	section string
}

func newPrinter(r *report.Report, opt TextOptions) *printer {
	p := &printer{r: r, opt: opt, width: opt.Width}
	if p.width <= 0 {
		p.width = 100
	}
	p.width = max(p.width, 60)
	return p
}

// writeTo writes what was printed; what names it in an error.
func (p *printer) writeTo(w io.Writer, what string) error {
	if _, err := io.WriteString(w, p.out.String()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// asked says that the user named this section, so that it should say so when it is empty.
func (p *printer) asked() bool { return len(p.opt.Sections) > 0 }

// rows is how many rows a table shows of n, where usual is the number without options.
func (p *printer) rows(n, usual int) int {
	switch {
	case p.opt.RowLimit > 0:
		return min(n, p.opt.RowLimit)
	case p.opt.RowLimit < 0 || p.opt.All:
		return n
	}
	return min(n, usual)
}

type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	blue   style = "34"
)

func (p *printer) paint(s style, text string) string {
	if !p.opt.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// heading starts a section.
func (p *printer) heading(text, aside string) {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.out.WriteString(p.paint(bold, text))
	if aside != "" {
		if len(text)+2+units.TextWidth(aside) <= p.width {
			p.out.WriteString("  " + p.paint(dim, aside))
		} else {
			p.out.WriteByte('\n')
			p.wrap("  ", "  ", aside)
			return
		}
	}
	p.out.WriteByte('\n')
}

// line writes one line, cut at the width.
func (p *printer) line(format string, args ...any) {
	p.out.WriteString(strings.TrimRight(units.Clip(fmt.Sprintf(format, args...), p.width), " "))
	p.out.WriteByte('\n')
}

// wrap writes text broken at spaces; the first line begins with first, the others with rest.
func (p *printer) wrap(first, rest, text string) {
	p.wrapStyled("", first, rest, text)
}

func (p *printer) wrapStyled(s style, first, rest, text string) {
	lead := first
	for _, l := range wrapLines(units.Printable(text), p.width-units.TextWidth(first), p.width-units.TextWidth(rest)) {
		p.out.WriteString(lead)
		if s != "" {
			l = p.paint(s, l)
		}
		p.out.WriteString(l)
		p.out.WriteByte('\n')
		lead = rest
	}
}

// wrapLines breaks text at spaces into lines of at most first (the first) or rest columns; longer words are kept whole
// (a path must stay one word to be copied), except when they exceed 400 columns.
func wrapLines(text string, first, rest int) []string {
	var lines []string
	limit, current := max(first, 20), ""
	for _, word := range strings.Fields(text) {
		word = units.Clip(word, 400)
		switch {
		case current == "":
			current = word
		case units.TextWidth(current)+1+units.TextWidth(word) <= limit:
			current += " " + word
		default:
			lines = append(lines, current)
			current, limit = word, max(rest, 20)
		}
	}
	if current != "" || len(lines) == 0 {
		lines = append(lines, current)
	}
	return lines
}

// Printable is a text of the program's as every table shows it, without control characters.
func Printable(s string) string { return units.Printable(s) }

// pad fills to n columns on the right.
func pad(s string, n int) string {
	if d := n - units.TextWidth(s); d > 0 {
		return s + strings.Repeat(" ", d)
	}
	return s
}
