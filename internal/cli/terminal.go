package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// isTerminal says whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := behind(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is how many columns a report written to w may use: the terminal's, at most 100; COLUMNS where it is set.
func width(w io.Writer) int {
	const widest = 100
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(n, widest)
	}
	if f, ok := behind(w).(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return min(n, widest)
		}
	}
	return widest
}
