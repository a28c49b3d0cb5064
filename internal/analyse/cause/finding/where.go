package finding

import (
	"fmt"
	"path"
	"strings"
)

// Place writes file:line with the file's base name.
func Place(w Where) string {
	if w.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(w.File, `\`, "/")), w.Line)
}

// In writes " in f() at file:line" as far as it is known.
func In(w Where) string {
	switch {
	case w.File == "":
		return ""
	case w.Function == "" || w.Function == "<module>":
		return " at " + Place(w)
	}
	return " in " + ShortFunction(w.Function) + " at " + Place(w)
}

// ShortFunction drops the enclosing function of a local one.
func ShortFunction(name string) string {
	if i := strings.LastIndex(name, "<locals>."); i >= 0 {
		name = name[i+len("<locals>."):]
	}
	if strings.HasPrefix(name, "<") {
		return name
	}
	return name + "()"
}
