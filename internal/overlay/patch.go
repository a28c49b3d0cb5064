package overlay

import (
	"fmt"
	"strings"
)

// around is how many equal lines a patch shows on either side of a change.
const around = 3

// Patch is the difference of two texts of a file in one piece, as git apply and patch -p1 take it. name is the file's path from where it is
// to be applied, with slashes. Of equal texts it is empty.
func Patch(name, before, after string) string {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head == len(a) && head == len(b) {
		return ""
	}
	from, left := max(head-around, 0), min(tail, around)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", quoted("a/"+name), quoted("b/"+name))
	fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(from, len(a)-tail+left), span(from, len(b)-tail+left))
	write := func(sign string, lines []string) {
		for _, line := range lines {
			out.WriteString(sign + line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+left])
	return out.String()
}

// span is the first line and the number of lines of a piece.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// splitLines are lines with their ends.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// quoted is a path as git writes it: names with signs that it would misread stand in quotes.
func quoted(path string) string {
	plain := func(r rune) bool { return r > ' ' && r < 0x7f && r != '"' && r != '\\' }
	for _, r := range path {
		if !plain(r) {
			return quotePath(path)
		}
	}
	return path
}

func quotePath(path string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&out, "\\%03o", c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
