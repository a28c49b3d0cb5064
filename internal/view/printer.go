package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printer writes the text report of r; sections are its methods.
type printer struct {
	r       *Report
	opt     TextOptions
	width   int
	out     strings.Builder
	section string
}

func newPrinter(r *Report, opt TextOptions) *printer {
	p := &printer{r: r, opt: opt, width: opt.Width}
	if p.width <= 0 {
		p.width = 100
	}
	p.width = max(p.width, 60)
	return p
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
		if len(text)+2+textWidth(aside) <= p.width {
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
	p.out.WriteString(strings.TrimRight(clip(fmt.Sprintf(format, args...), p.width), " "))
	p.out.WriteByte('\n')
}

// wrap writes text broken at spaces; the first line begins with first, the others with rest.
func (p *printer) wrap(first, rest, text string) {
	p.wrapStyled("", first, rest, text)
}

func (p *printer) wrapStyled(s style, first, rest, text string) {
	lead := first
	for _, l := range wrapLines(printable(text), p.width-textWidth(first), p.width-textWidth(rest)) {
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
		word = clip(word, 400)
		switch {
		case current == "":
			current = word
		case textWidth(current)+1+textWidth(word) <= limit:
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

// printable replaces control characters: a file name or a reason comes from the program and must not steer the terminal.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unprintable(r) {
			return '·'
		}
		return r
	}, s)
}

// Printable is a text of the program's as every table shows it, without control characters.
func Printable(s string) string { return printable(s) }

func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf) }

// textWidth is the number of columns, one per character.
func textWidth(s string) int { return utf8.RuneCountInString(s) }

// clip cuts at n columns and marks the cut. Colour sequences are not expected in s.
func clip(s string, n int) string {
	s = printableKeepingColour(s)
	if strings.Contains(s, "\x1b") || textWidth(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:max(n-1, 0)]) + "…"
}

func printableKeepingColour(s string) string {
	if strings.Contains(s, "\x1b[") {
		return s
	}
	return printable(s)
}

// clipLeft cuts at the left, for paths, of which the end matters.
func clipLeft(s string, n int) string {
	s = printable(s)
	if textWidth(s) <= n {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-max(n-1, 0):])
}

// pad fills to n columns on the right.
func pad(s string, n int) string {
	if d := n - textWidth(s); d > 0 {
		return s + strings.Repeat(" ", d)
	}
	return s
}
