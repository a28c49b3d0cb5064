package units

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces control characters: a file name or a reason comes from the program and must not steer the terminal.
func Printable(s string) string {
	if strings.IndexFunc(s, Unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if Unprintable(r) {
			return '·'
		}
		return r
	}, s)
}

func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf) }

// TextWidth is the number of columns, one per character.
func TextWidth(s string) int { return utf8.RuneCountInString(s) }

// Clip cuts at n columns and marks the cut. Colour sequences are not expected in s.
func Clip(s string, n int) string {
	s = printableKeepingColour(s)
	if strings.Contains(s, "\x1b") || TextWidth(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:max(n-1, 0)]) + "…"
}

func printableKeepingColour(s string) string {
	if strings.Contains(s, "\x1b[") {
		return s
	}
	return Printable(s)
}

// ClipLeft cuts at the left, for paths, of which the end matters.
func ClipLeft(s string, n int) string {
	s = Printable(s)
	if TextWidth(s) <= n {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-max(n-1, 0):])
}

func Counted(n int, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "s"):
		word += "es"
	default:
		word += "s"
	}
	return Count(int64(n)) + " " + word
}

func LowerFirst(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// UpperFirst begins a sentence with a capital.
func UpperFirst(s string) string {
	r := []rune(s)
	if len(r) > 0 && r[0] >= 'a' && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}
