package view

import (
	"bottleneck/internal/units"
	"bytes"
	"io"
	"regexp"
	"unicode/utf8"
)

// Safe makes a writer of text that cannot steer a terminal, whatever names of the program it holds: control characters, and those that turn
// the direction of writing, become '·'. Line feeds and tabs stay, and with colour the sequences that this package paints with.
func Safe(w io.Writer, colour bool) io.WriteCloser { return &safeWriter{w: w, colour: colour} }

type safeWriter struct {
	w      io.Writer
	colour bool
	rest   []byte // the beginning of a character or sequence that has not come wholly
}

var (
	paintForm  = regexp.MustCompile(`^\x1b\[[0-9;]{1,12}m`)
	paintBegin = regexp.MustCompile(`^\x1b(\[[0-9;]{0,12})?$`)
)

func (s *safeWriter) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	s.rest = nil
	var out bytes.Buffer
	out.Grow(len(text))
	for len(text) > 0 {
		if c := text[0]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			out.WriteByte(c)
			text = text[1:]
			continue
		}
		if !utf8.FullRune(text) || s.colour && paintBegin.Match(text) {
			s.rest = bytes.Clone(text)
			break
		}
		text = text[s.character(&out, text):]
	}
	if _, err := s.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// character writes the first character of text, which is no plain one, and returns its length.
func (s *safeWriter) character(out *bytes.Buffer, text []byte) int {
	if paint := paintForm.Find(text); s.colour && paint != nil {
		out.Write(paint)
		return len(paint)
	}
	r, n := utf8.DecodeRune(text)
	if units.Unprintable(r) || r == utf8.RuneError && n == 1 {
		r = '·'
	}
	out.WriteRune(r)
	return n
}

// Close writes what an incomplete character at the end stands for.
func (s *safeWriter) Close() error {
	if len(s.rest) == 0 {
		return nil
	}
	s.rest = nil
	_, err := io.WriteString(s.w, "·")
	return err
}
