package overlay

import (
	"fmt"
	"strings"
)

// Edit changes one line of a file, or puts one before it.
type Edit struct {
	Line int    // from 1
	Old  string // the line as it is, without its indentation
	New  string // what it becomes, or what is put before it
	// Insert puts New before the line, as deep as that.
	Insert bool
}

// Apply is the changed text. An error says that the line is not what the edit is of.
func (e Edit) Apply(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	if e.Line < 1 || e.Line > len(lines) {
		return "", fmt.Errorf("there is no line %d", e.Line)
	}
	line := lines[e.Line-1]
	bare := strings.TrimSpace(line)
	if bare != strings.TrimSpace(e.Old) {
		return "", fmt.Errorf("line %d is %q, and was %q", e.Line, bare, strings.TrimSpace(e.Old))
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	end := line[len(strings.TrimRight(line, "\r\n")):]
	if e.Insert {
		lines[e.Line-1] = indent + e.New + orNewline(end) + line
	} else {
		lines[e.Line-1] = indent + e.New + end
	}
	return strings.Join(lines, ""), nil
}

// orNewline is a line's end; the last one of a file may lack it.
func orNewline(end string) string {
	if end == "" {
		return "\n"
	}
	return end
}
