package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// row is one line's elements; absent and null ones read as zero values.
type row []json.RawMessage

// splitRow cuts a line that is one JSON array into its elements, which stay parts of the line, and appends them to r. A long run's file
// has millions of lines, and json.Unmarshal makes a copy of each element.
func splitRow(line []byte, r row) (row, bool) {
	line = bytes.TrimLeft(line, " \t\r\n")
	if len(line) == 0 || line[0] != '[' || !json.Valid(line) {
		return r, false
	}
	depth, start := 0, 1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			i = endOfText(line, i)
		case '[', '{':
			depth++
		case ',':
			if depth == 1 {
				r, start = append(r, bytes.TrimSpace(line[start:i])), i+1
			}
		case ']', '}':
			if depth--; depth == 0 {
				if last := bytes.TrimSpace(line[start:i]); len(last) > 0 {
					r = append(r, last)
				}
				return r, true
			}
		}
	}
	return r, false
}

// endOfText gives the place of the quote that ends the text which begins at i, in valid JSON.
func endOfText(line []byte, i int) int {
	for i++; line[i] != '"'; i++ {
		if line[i] == '\\' {
			i++
		}
	}
	return i
}

func (r row) raw(i int) json.RawMessage {
	if i >= len(r) || string(r[i]) == "null" {
		return nil
	}
	return r[i]
}

// integer reads element i; ok is false where there is none or it is no number that fits.
func (r row) integer(i int) (int64, bool) {
	raw := r.raw(i)
	if raw == nil {
		return 0, false
	}
	if n, ok := digits(raw); ok {
		return n, true
	}
	var n int64
	if json.Unmarshal(raw, &n) == nil {
		return n, true
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || math.Abs(f) > 1e18 {
		return 0, false
	}
	return int64(f), true
}

// digits reads what nearly all numbers are: at most 18 digits, which fit.
func digits(raw []byte) (int64, bool) {
	if len(raw) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

func (r row) number(i int) int64 {
	n, _ := r.integer(i)
	return n
}

func (r row) text(i int) string {
	raw := r.raw(i)
	if raw == nil {
		return ""
	}
	if plainText(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// plainText says that a JSON value is a text that stands for itself: ASCII without escapes, as nearly all are.
func plainText(raw []byte) bool {
	if raw[0] != '"' {
		return false
	}
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
