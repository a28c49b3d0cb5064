package kineto

import (
	"strconv"
	"unicode/utf8"
)

// unescape appends the text of a string's inside. Escapes that JSON does not know are kept as they are, and bytes that
// are not UTF-8 become the replacement character.
func unescape(to, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 >= len(raw) {
			to = append(to, c)
			continue
		}
		i++
		switch raw[i] {
		case '"', '\\', '/':
			to = append(to, raw[i])
		case 'n':
			to = append(to, '\n')
		case 't':
			to = append(to, '\t')
		case 'r':
			to = append(to, '\r')
		case 'b':
			to = append(to, '\b')
		case 'f':
			to = append(to, '\f')
		case 'u':
			r, n := unicodeEscape(raw[i:])
			if n == 0 {
				to = append(to, '\\', 'u')
				continue
			}
			to = utf8.AppendRune(to, r)
			i += n - 1
		default:
			to = append(to, '\\', raw[i])
		}
	}
	return to
}

// unicodeEscape reads "uXXXX", and a pair of surrogates as one; n is 0 when it is none.
func unicodeEscape(raw []byte) (r rune, n int) {
	first, ok := hex4(raw)
	if !ok {
		return 0, 0
	}
	if first >= 0xD800 && first < 0xDC00 && len(raw) >= 11 && raw[5] == '\\' && raw[6] == 'u' {
		if second, ok := hex4(raw[6:]); ok && second >= 0xDC00 && second < 0xE000 {
			return (first-0xD800)<<10 + (second - 0xDC00) + 0x10000, 11
		}
	}
	return first, 5
}

func hex4(raw []byte) (rune, bool) {
	if len(raw) < 5 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(raw[1:5]), 16, 32)
	return rune(v), err == nil
}
