package kineto

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// skipNumber returns the position after the digits at p if they are a whole number, else p.
func skipNumber(b []byte, p int) int {
	q := p
	for q+8 <= len(b) {
		if odd := noDigits(binary.LittleEndian.Uint64(b[q:])); odd != 0 {
			q += bits.TrailingZeros64(odd) / 8
			break
		}
		q += 8
	}
	if q > p && q < len(b) && delimiter(b[q]) {
		return q
	}
	return p
}

// skip returns the position after the value at p. Brackets are only counted, so depth costs nothing.
func (s *Scanner) skip(b []byte, p int) int {
	if p = blanks(b, p); p >= len(b) {
		return failMore
	}
	switch b[p] {
	case '"':
		end, _ := s.quoted(b, p)
		return end
	case '[', '{':
		return skipNested(b, p)
	}
	if _, q := digits(b, p); q > p && q < len(b) && delimiter(b[q]) {
		return q
	}
	for q := p; q < len(b); q++ {
		if delimiter(b[q]) {
			if q == p {
				return failBad
			}
			return q
		}
		if b[q] == '"' || b[q] == ':' || b[q] == '{' || b[q] == '[' {
			return failBad
		}
	}
	return failMore
}

// insideOut recognises what stands between strings, which looks like strings itself where one quote is missing: without
// this an array would go on through hundreds of events.
func insideOut(text []byte) bool {
	return bytes.HasPrefix(text, []byte(": ")) || string(text) == ", " || bytes.IndexByte(text, '\n') >= 0
}

// nested marks the bytes that matter between brackets.
var nested = [256]int8{'"': 3, '[': 1, '{': 1, ']': 2, '}': 2}

// quiet is how many of eight bytes from the first on are neither quotes nor brackets (and not Y, y, _ or DEL, which share
// the brackets' bits).
func quiet(eight uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	brackets := eight&(0x59*ones) ^ 0x59*ones
	quotes := eight ^ '"'*ones
	found := ((brackets-ones)&^brackets | (quotes-ones)&^quotes) & highs
	if found == 0 {
		return 8
	}
	return bits.TrailingZeros64(found) / 8
}

// plainString returns the position after the string that begins at p if a look at whole words shows that it has neither
// escapes nor line breaks and is not insideOut; p where it takes more than that.
func plainString(b []byte, p int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if p+1 < len(b) && (b[p+1] == ':' || b[p+1] == ',') {
		return p
	}
	for q := p + 1; q+8 <= len(b); q += 8 {
		eight := binary.LittleEndian.Uint64(b[q:])
		quotes, escapes, breaks := eight^'"'*ones, eight^'\\'*ones, eight^'\n'*ones
		found := ((quotes-ones)&^quotes | (escapes-ones)&^escapes | (breaks-ones)&^breaks) & highs
		if found == 0 {
			continue
		}
		if q += bits.TrailingZeros64(found) / 8; b[q] != '"' {
			return p
		}
		return q + 1
	}
	return p
}

func skipNested(b []byte, p int) int {
	depth := 0
	for p < len(b) {
		if p+8 <= len(b) {
			p += quiet(binary.LittleEndian.Uint64(b[p:]))
			if p >= len(b) {
				break
			}
		}
		switch nested[b[p]] {
		case 0:
			p++
		case 1:
			depth++
			p++
		case 2:
			depth--
			p++
			if depth == 0 {
				return p
			}
		case 3:
			if end := plainString(b, p); end > p {
				p = end
				continue
			}
			end, _ := quoted(b, p)
			if end < 0 {
				return end
			}
			if insideOut(b[p+1 : end-1]) {
				return failBad
			}
			p = end
		}
	}
	return failMore
}
