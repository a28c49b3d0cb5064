package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// barColumns is the width of a line's bar, which is full at all of the chosen samples.
const barColumns = 10

// WriteSource writes the text of one file, as SourceFile named it, with the sampled time of each line: own and total
// time, share of all chosen samples and a bar (█ own, ░ in what it called). Lines without samples are plain. Where the
// session does not hold the text only the lines with samples are listed.
func WriteSource(w io.Writer, s *model.Session, file string, choice SampleChoice, opt TextOptions) error {
	sums := sumSamples(s, choice)
	p := newPrinter(nil, opt)
	byLine, inFile := map[int]ownTotal{}, 0.0
	for key, t := range sums.lines {
		if s.Strings.Text(key.file) == file {
			byLine[int(key.line)] = t
		}
	}
	for id, t := range sums.files {
		if s.Strings.Text(id) == file {
			inFile = t
		}
	}
	p.heading(clipLeft(file, p.width), "")
	p.wrap("", "", fmt.Sprintf("%s of %s below or in this file (%s); %s", units.Milliseconds(inFile/1e6), units.Milliseconds(sums.all/1e6), units.Percent(share(inFile, sums.all)),
		choice.describe(sums)))
	var lines []string
	if src := s.Sources[file]; src != nil {
		lines = src.Lines
	} else {
		p.wrap("", "", "The text is not kept in the session: only lines with samples are listed.")
	}
	p.out.WriteString("\n" + p.paint(bold, fmt.Sprintf("%8s %8s %7s %-*s %5s", "own", "total", "share", barColumns, "", "line")) + "\n")
	for i, text := range lines {
		p.sourceLine(i+1, text, byLine[i+1], sums.all)
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
			p.sourceLine(n, note, byLine[n], sums.all)
		}
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *printer) sourceLine(number int, text string, t ownTotal, all float64) {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\t", "    ")
	if t.total == 0 {
		p.line("%*s %5d  %s", 8+1+8+1+7+1+barColumns, "", number, text)
		return
	}
	own := "-"
	if t.own > 0 {
		own = units.Milliseconds(t.own / 1e6)
	}
	row := fmt.Sprintf("%8s %8s %7s %s %5d  %s", own, units.Milliseconds(t.total/1e6), units.Percent(share(t.total, all)), bar(share(t.own, all), share(t.total, all)), number,
		printable(text))
	row = clip(row, p.width)
	if t.own > 0 {
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

// describe says which samples were counted.
func (c SampleChoice) describe(sums *sampleSums) string {
	what := "wall time of threads that do not wait for work"
	switch {
	case c.GIL && sums.attached > 0 && sums.attached == sums.samples:
		what = "time in which threads ran Python (the interpreter has no GIL)"
	case c.GIL && sums.attached > 0:
		what = "time in which threads held the GIL, or ran Python where there is none"
	case c.GIL:
		what = "time in which threads held the GIL"
	case c.Idle:
		what = "wall time of all threads, idle ones too"
	}
	return fmt.Sprintf("%s, %s of %s in %s", what, counted(sums.samples, "sample"), counted(sums.threads, "thread"), counted(sums.processes, "process"))
}

func counted(n int, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "s"):
		word += "es"
	default:
		word += "s"
	}
	return units.Count(int64(n)) + " " + word
}

// usualSampleRows is how many rows a table of WriteSamples has without options.
const usualSampleRows = 20

// WriteSamples writes the functions that the chosen samples of all processes and threads stand in, by own time. Unlike
// the report's tables it is not bound to the driving thread or to steps.
func WriteSamples(w io.Writer, s *model.Session, choice SampleChoice, opt TextOptions) error {
	sums := sumSamples(s, choice)
	p := newPrinter(nil, opt)
	p.heading("Samples of all threads", "")
	p.wrap("", "", choice.describe(sums))
	if sums.samples == 0 {
		if choice.GIL {
			p.wrap("", "", "No sample held the GIL: no thread ran Python code.")
		}
		_, err := io.WriteString(w, p.out.String())
		return err
	}
	keys := slices.SortedFunc(maps.Keys(sums.functions), func(a, b funcKey) int {
		x, y := sums.functions[a], sums.functions[b]
		text := s.Strings.Text
		return cmp.Or(cmp.Compare(y.own, x.own), cmp.Compare(y.total, x.total), cmp.Compare(text(a.file), text(b.file)),
			cmp.Compare(a.first, b.first), cmp.Compare(text(a.function), text(b.function)))
	})
	p.out.WriteString(p.paint(bold, fmt.Sprintf("%8s %8s %7s %-*s  %s", "own", "total", "share", barColumns, "", "function")) + "\n")
	shown := p.rows(len(keys), usualSampleRows)
	for _, key := range keys[:shown] {
		t := sums.functions[key]
		own := "-"
		if t.own > 0 {
			own = units.Milliseconds(t.own / 1e6)
		}
		place := fmt.Sprintf("%s:%d", s.Strings.Text(key.file), key.first)
		p.line("%8s %8s %7s %s  %s (%s)", own, units.Milliseconds(t.total/1e6), units.Percent(share(t.total, sums.all)), bar(share(t.own, sums.all), share(t.total, sums.all)),
			printable(s.Strings.Text(key.function)), clipLeft(place, max(20, p.width-44-textWidth(s.Strings.Text(key.function)))))
	}
	if shown < len(keys) {
		p.line("… %s more; --row-limit -1 shows all", units.Count(int64(len(keys)-shown)))
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}
