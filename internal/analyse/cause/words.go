package cause

import (
	"fmt"
	"path"
	"strings"
)

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
