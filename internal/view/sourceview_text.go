package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// barColumns is the width of a line's bar, which is full at all of the chosen samples.
const barColumns = 10

// WriteSource writes the text of one file, as SourceFile named it, with the sampled time of each line: own and total
// time, share of all chosen samples and a bar (█ own, ░ in what it called). Lines without samples are plain. Where the
// session does not hold the text only the lines with samples are listed.
func WriteSource(w io.Writer, s *model.Session, file string, choice report.SampleChoice, opt TextOptions) error {
	sums := report.SumSamples(s, choice)
	p := newPrinter(nil, opt)
	byLine, inFile := map[int]report.OwnTotal{}, 0.0
	for key, t := range sums.Lines {
		if s.Strings.Text(key.File) == file {
			byLine[int(key.Line)] = t
		}
	}
	for id, t := range sums.Files {
		if s.Strings.Text(id) == file {
			inFile = t
		}
	}
	p.heading(units.ClipLeft(file, p.width), "")
	p.wrap("", "", fmt.Sprintf("%s of %s below or in this file (%s); %s", units.Milliseconds(inFile/1e6), units.Milliseconds(sums.All/1e6),
		units.Percent(share(inFile, sums.All)), describes(choice, sums)))
	var lines []string
	if src := s.Sources[file]; src != nil {
		lines = src.Lines
	} else {
		p.wrap("", "", "The text is not kept in the session: only lines with samples are listed.")
	}
	p.out.WriteString("\n" + p.paint(bold, fmt.Sprintf("%8s %8s %7s %-*s %5s", "own", "total", "share", barColumns, "", "line")) + "\n")
	for i, text := range lines {
		p.sourceLine(i+1, text, byLine[i+1], sums.All)
	}
	for _, n := range slices.Sorted(maps.Keys(byLine)) {
		if n < 1 || n > len(lines) {
			note := ""
			switch {
			case n < 1:
				note = "(line not known)"
			case lines != nil:
				note = "(beyond the kept text)"
			}
			p.sourceLine(n, note, byLine[n], sums.All)
		}
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *printer) sourceLine(number int, text string, t report.OwnTotal, all float64) {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\t", "    ")
	if t.Total == 0 {
		p.line("%*s %5d  %s", 8+1+8+1+7+1+barColumns, "", number, text)
		return
	}
	own := "-"
	if t.Own > 0 {
		own = units.Milliseconds(t.Own / 1e6)
	}
	row := fmt.Sprintf("%8s %8s %7s %s %5d  %s", own, units.Milliseconds(t.Total/1e6), units.Percent(share(t.Total, all)),
		bar(share(t.Own, all), share(t.Total, all)), number, units.Printable(text))
	row = units.Clip(row, p.width)
	if t.Own > 0 {
		row = p.paint(bold, row)
	}
	p.out.WriteString(strings.TrimRight(row, " ") + "\n")
}

// bar draws own time solid and the rest of the total light, at least one light cell where there is any time.
func bar(own, total float64) string {
	solid := min(max(int(own*barColumns+0.5), 0), barColumns)
	light := min(max(int(total*barColumns+0.5)-solid, 0), barColumns-solid)
	if solid+light == 0 && total > 0 {
		light = 1
	}
	return strings.Repeat("█", solid) + strings.Repeat("░", light) + strings.Repeat(" ", barColumns-solid-light)
}

func share(part, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return part / all
}

// describes says which samples were counted.
func describes(c report.SampleChoice, sums *report.SampleSums) string {
	what := "wall time of threads that do not wait for work"
	switch {
	case c.GIL && sums.Attached > 0 && sums.Attached == sums.Samples:
		what = "time in which threads ran Python (the interpreter has no GIL)"
	case c.GIL && sums.Attached > 0:
		what = "time in which threads held the GIL, or ran Python where there is none"
	case c.GIL:
		what = "time in which threads held the GIL"
	case c.Idle:
		what = "wall time of all threads, idle ones too"
	}
	return fmt.Sprintf("%s, %s of %s in %s", what, units.Counted(sums.Samples, "sample"), units.Counted(sums.Threads, "thread"),
		units.Counted(sums.Processes, "process"))
}

// usualSampleRows is how many rows a table of WriteSamples has without options.
const usualSampleRows = 20

// WriteSamples writes the functions that the chosen samples of all processes and threads stand in, by own time. Unlike
// the report's tables it is not bound to the driving thread or to steps.
func WriteSamples(w io.Writer, s *model.Session, choice report.SampleChoice, opt TextOptions) error {
	sums := report.SumSamples(s, choice)
	p := newPrinter(nil, opt)
	p.heading("Samples of all threads", "")
	p.wrap("", "", describes(choice, sums))
	if sums.Samples == 0 {
		if choice.GIL {
			p.wrap("", "", "No sample held the GIL: no thread ran Python code.")
		}
		_, err := io.WriteString(w, p.out.String())
		return err
	}
	keys := slices.SortedFunc(maps.Keys(sums.Functions), func(a, b report.FuncKey) int {
		x, y := sums.Functions[a], sums.Functions[b]
		text := s.Strings.Text
		return cmp.Or(cmp.Compare(y.Own, x.Own), cmp.Compare(y.Total, x.Total), cmp.Compare(text(a.File), text(b.File)),
			cmp.Compare(a.First, b.First), cmp.Compare(text(a.Function), text(b.Function)))
	})
	p.out.WriteString(p.paint(bold, fmt.Sprintf("%8s %8s %7s %-*s  %s", "own", "total", "share", barColumns, "", "function")) + "\n")
	shown := p.rows(len(keys), usualSampleRows)
	for _, key := range keys[:shown] {
		t := sums.Functions[key]
		own := "-"
		if t.Own > 0 {
			own = units.Milliseconds(t.Own / 1e6)
		}
		place := fmt.Sprintf("%s:%d", s.Strings.Text(key.File), key.First)
		p.line("%8s %8s %7s %s  %s (%s)", own, units.Milliseconds(t.Total/1e6), units.Percent(share(t.Total, sums.All)),
			bar(share(t.Own, sums.All), share(t.Total, sums.All)), units.Printable(s.Strings.Text(key.Function)),
			units.ClipLeft(place, max(20, p.width-44-units.TextWidth(s.Strings.Text(key.Function)))))
	}
	if shown < len(keys) {
		p.line("… %s more; --row-limit -1 shows all", units.Count(int64(len(keys)-shown)))
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}
