package view

import (
	"bottleneck/internal/report"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LightningStage tells from the actions what a trainer was asked for: "fit", "validate", "test", "predict", or "" where
// no loop's own action is among them. A fit validates too, so it is looked for first. method is that of Hugging Face's
// Trainer, whose actions are "[Trainer]Class.method".
func LightningStage(actions []report.LightningAction) string {
	for _, stage := range [...]struct{ action, method, name string }{
		{"run_training_epoch", ".train", "fit"}, {"[_EvaluationLoop].val_next", ".evaluate", "validate"},
		{"[_EvaluationLoop].test_next", "", "test"}, {"[_PredictionLoop].predict_next", ".predict", "predict"},
	} {
		if slices.ContainsFunc(actions, func(a report.LightningAction) bool {
			return a.Name == stage.action || stage.method != "" && strings.HasPrefix(a.Name, "[Trainer]") &&
				strings.HasSuffix(a.Name, stage.method)
		}) {
			return stage.name
		}
	}
	return ""
}

// LightningTable writes actions as Lightning's SimpleProfiler does in its extended form, most time first. stage is "FIT",
// "VALIDATE", … or "".
// Layout: lightning/pytorch/profilers/simple.py, version 2.6.
func LightningTable(w io.Writer, stage string, actions []report.LightningAction, elapsed float64) error {
	var b strings.Builder
	if stage != "" {
		b.WriteString(strings.ToUpper(stage) + " ")
	}
	b.WriteString("Profiler Report\n")
	if len(actions) > 0 {
		lightningRows(&b, actions, elapsed)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func lightningRows(b *strings.Builder, actions []report.LightningAction, elapsed float64) {
	widest, calls := 0, int64(0)
	for _, a := range actions {
		widest = max(widest, utf8.RuneCountInString(a.Name))
		calls += a.Count
	}
	row := func(name, mean, count, total, share string) string {
		line := "\n|  " + padRight(name, widest) + "\t|"
		for _, cell := range []string{mean, count, total, share} {
			line += "  " + padRight(cell, 15) + "\t|"
		}
		return line
	}
	header := row("Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %")
	rule := "\n" + strings.Repeat("-", expandedLength(header))
	b.WriteString(rule + header + rule)
	b.WriteString(row("Total", "-", strconv.FormatInt(calls, 10), fiveDigits(elapsed), "100 %"))
	b.WriteString(rule)
	share := func(a report.LightningAction) float64 { return 100 * a.Total / elapsed } // inf where no time is known
	sorted := slices.Clone(actions)
	slices.SortStableFunc(sorted, func(x, y report.LightningAction) int {
		switch {
		case x.Total > y.Total:
			return -1
		case x.Total < y.Total:
			return 1
		}
		return 0
	})
	for _, a := range sorted {
		b.WriteString(row(a.Name, fiveDigits(a.Total/float64(a.Count)), strconv.FormatInt(a.Count, 10), fiveDigits(a.Total),
			fiveDigits(share(a))))
	}
	b.WriteString(rule)
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// expandedLength is Python's len(s.expandtabs()): tabs go to the next multiple of 8, which a newline sets back.
func expandedLength(s string) int {
	length, column := 0, 0
	for _, c := range s {
		switch c {
		case '\t':
			length += 8 - column%8
			column += 8 - column%8
		case '\n':
			length++
			column = 0
		default:
			length++
			column++
		}
	}
	return length
}

// fiveDigits is Python's format(v, ".5"): five significant digits, an exponent below 1e-4 and from 1e4 on, and at least
// one digit after the point.
func fiveDigits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(v, 'e', 4, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent)
	if n < -4 || n >= 4 {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
		return mantissa + "e" + exponent
	}
	text = strconv.FormatFloat(v, 'f', max(4-n, 0), 64)
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

// LightningSection is one part of the report of Lightning's PyTorchProfiler or AdvancedProfiler: an action and its table.
type LightningSection struct{ Action, Text string }

// LightningSections writes tables under the lines that Lightning puts above them; rank < 0 leaves the rank out.
// Layout: lightning/pytorch/profilers/profiler.py, version 2.6.
func LightningSections(w io.Writer, stage string, rank int, sections []LightningSection) error {
	title := "Profiler Report"
	if stage != "" {
		title = strings.ToUpper(stage) + " " + title
	}
	lines := []string{title}
	for _, s := range sections {
		header := "Profile stats for: " + s.Action
		if rank >= 0 {
			header += " rank: " + strconv.Itoa(rank)
		}
		lines = append(lines, header, s.Text)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}
