package export

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"bottleneck/internal/model"
)

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, "<" and "\u2028" are escaped, so that
// the text can stand inside a page's script as well.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != '<' && c < utf8.RuneSelf {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		if c < utf8.RuneSelf {
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			b = append(b, '\\', 'u', '2', '0', '2', hex[r&15])
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// appendMicros appends a time in nanoseconds as microseconds with three digits, as Kineto writes it.
func appendMicros(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	f := u % 1000
	return append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}

// appendFloat appends a number; JSON has none for infinities and NaN, which become null.
func appendFloat(b []byte, v float64, bits int) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// rawTexts answers whether interned raw JSON is well formed, looking at each text once: most operators share theirs.
type rawTexts struct {
	strings *model.Strings
	state   []uint8 // by Str: 0 not looked at, 1 valid, 2 not
}

func newRawTexts(s *model.Strings) *rawTexts {
	return &rawTexts{strings: s, state: make([]uint8, s.Len())}
}

// append appends the text as it is where it is JSON, else as a string, so that damage in it cannot damage the output.
func (r *rawTexts) append(b []byte, id model.Str) []byte {
	text := r.strings.Text(id)
	if r.valid(id, text) {
		return append(b, text...)
	}
	return appendString(b, text)
}

func (r *rawTexts) valid(id model.Str, text string) bool {
	if int(id) >= len(r.state) {
		return json.Valid([]byte(text))
	}
	if r.state[id] == 0 {
		r.state[id] = 2
		if json.Valid([]byte(text)) {
			r.state[id] = 1
		}
	}
	return r.state[id] == 1
}

// members appends the members of an object ("{…}"), each preceded by a comma unless it is the first; texts that are not
// an object are left out.
func (r *rawTexts) members(b []byte, id model.Str) []byte {
	text := r.strings.Text(id)
	if len(text) < 3 || text[0] != '{' || !r.valid(id, text) {
		return b
	}
	if inner := trimBlanks(text[1 : len(text)-1]); inner != "" {
		b = append(separate(b), inner...)
	}
	return b
}

func trimBlanks(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || s[0] == '\r') {
		s = s[1:]
	}
	for n := len(s); n > 0 && (s[n-1] == ' ' || s[n-1] == '\n' || s[n-1] == '\t' || s[n-1] == '\r'); n = len(s) {
		s = s[:n-1]
	}
	return s
}

// separate appends ", " unless an object has just begun.
func separate(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] != '{' && b[n-1] != '[' {
		b = append(b, ", "...)
	}
	return b
}

// appendKey begins a member of an object.
func appendKey(b []byte, key string) []byte {
	return append(appendString(separate(b), key), ": "...)
}

func appendInt(b []byte, key string, v int64) []byte {
	return strconv.AppendInt(appendKey(b, key), v, 10)
}

func appendText(b []byte, key, text string) []byte {
	return appendString(appendKey(b, key), text)
}
