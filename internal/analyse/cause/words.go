package cause

import (
	"fmt"
	"path"
	"strings"

	"bottleneck/internal/analyse/cause/price"
)

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// place writes file:line with the file's base name.
func place(w Where) string {
	if w.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(w.File, `\`, "/")), w.Line)
}

// in writes " in f() at file:line" as far as it is known.
func in(w Where) string {
	switch {
	case w.File == "":
		return ""
	case w.Function == "" || w.Function == "<module>":
		return " at " + place(w)
	}
	return " in " + shortFunction(w.Function) + " at " + place(w)
}

// shortFunction drops the enclosing function of a local one.
func shortFunction(name string) string {
	if i := strings.LastIndex(name, "<locals>."); i >= 0 {
		name = name[i+len("<locals>."):]
	}
	if strings.HasPrefix(name, "<") {
		return name
	}
	return name + "()"
}

func percent(share float64) string {
	if share < price.PercentDigit {
		return fmt.Sprintf("%.1f %%", share*100)
	}
	return fmt.Sprintf("%.0f %%", share*100)
}

// ms writes ns as milliseconds with three digits.
func ms(ns float64) string {
	v := ns / 1e6
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.3g s", v/1000)
	case v < 1:
		return fmt.Sprintf("%.3g µs", v*1000)
	}
	return fmt.Sprintf("%.3g ms", v)
}
