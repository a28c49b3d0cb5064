package kineto

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

func blanks(b []byte, p int) int {
	for p < len(b) && (b[p] == ' ' || b[p] == '\n' || b[p] == '\r' || b[p] == '\t') {
		p++
	}
	return p
}

// delimiter says whether c may follow a number.
func delimiter(c byte) bool { return delimiters[c] }

var delimiters = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true}

// quoted returns the position after the string that begins at p, and whether it holds a backslash.
func (s *Scanner) quoted(b []byte, p int) (int, bool) {
	if s.lenient {
		return quotedLeniently(b, p)
	}
	return quoted(b, p)
}

// quoted is the strict form, which keys and strings within arrays always have.
func quoted(b []byte, p int) (int, bool) {
	p++
	n := bytes.IndexByte(b[p:], '"')
	if n < 0 {
		return failMore, false
	}
	if bytes.IndexByte(b[p:p+n], '\\') < 0 {
		return p + n + 1, false
	}
	for i := p; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return failMore, true
}

// text reads a string, or whatever value stands instead, and interns it in Names.
func (s *Scanner) text(b []byte, p int) (Text, int) {
	if p >= len(b) {
		return 0, failMore
	}
	if b[p] != '"' {
		end := s.skip(b, p)
		if end < 0 {
			return 0, end
		}
		return s.Names.Intern(b[p:end]), end
	}
	end, escaped := s.quoted(b, p)
	if end < 0 {
		return 0, end
	}
	raw := b[p+1 : end-1]
	if escaped {
		s.scratch = unescape(s.scratch[:0], raw)
		raw = s.scratch
	}
	return s.Names.Intern(raw), end
}

// name reads an event's name. Programs repeat themselves, so the names that followed the last four before are tried
// first; only names without escapes are remembered, since those stand in the text as they are.
func (s *Scanner) name(b []byte, p int, n *node, e *Event) int {
	if n.memo == nil {
		n.memo = new([memoSize][2]Text)
	}
	last := &n.memo[s.before*0x9E3779B97F4A7C15>>(64-memoBits)]
	rest := b[p:]
	for way, id := range last {
		known := s.Names.String(id)
		if end := len(known) + 1; id != 0 && len(rest) > end && rest[0] == '"' && rest[end] == '"' &&
			string(rest[1:end]) == known && !s.lenient {
			last[way], last[0] = last[0], id
			e.Name, s.before = id, s.before<<16^uint64(id)
			return p + end + 1
		}
	}
	id, q := s.text(b, p)
	if q >= 0 && b[p] == '"' && q-p-2 == len(s.Names.String(id)) && !s.lenient {
		last[0], last[1] = id, last[0]
	}
	e.Name, s.before = id, s.before<<16^uint64(id)
	return q
}

// id reads a pid or tid.
func (s *Scanner) id(b []byte, p int, id *ID) int {
	v, q := digits(b, p)
	if q > p && q-p <= 18 && q < len(b) && delimiter(b[q]) {
		*id = ID{Num: v, Set: true}
		return q
	}
	text, q := s.text(b, p)
	if q < 0 {
		return q
	}
	if q >= len(b) && !s.final {
		return failMore
	}
	*id = ID{Text: text, Set: true}
	written := s.Names.String(text)
	if v, err := strconv.ParseInt(written, 10, 64); err == nil && strconv.FormatInt(v, 10) == written {
		*id = ID{Num: v, Set: true}
	}
	return q
}

// digits reads decimal digits; more than 18 overflow and are caught by the caller by their number.
func digits(b []byte, p int) (int64, int) {
	var v int64
	for p+8 <= len(b) {
		eight := binary.LittleEndian.Uint64(b[p:])
		odd := noDigits(eight)
		if odd == 0 {
			v = v*100_000_000 + eightDigits(eight)
			p += 8
			continue
		}
		// Numbers differ in length without a rule that a processor could foresee, so their end is counted, not looked for.
		n := uint(bits.TrailingZeros64(odd)) / 8
		return v*shortTens[n] + eightDigits(eight<<(64-8*n)), p + int(n)
	}
	for p < len(b) && b[p]-'0' <= 9 {
		v = v*10 + int64(b[p]-'0')
		p++
	}
	return v, p
}

// shortTens are the powers of ten by which up to eight more digits shift a number.
var shortTens = [9]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// noDigits marks bytes that are no decimal digits, exactly up to the first one: a byte is a digit if its upper half is 3 and
// stays so when 6 is added.
func noDigits(eight uint64) uint64 {
	return (eight&0xF0F0F0F0F0F0F0F0 ^ 0x3030303030303030) | ((eight+0x0606060606060606)&0xF0F0F0F0F0F0F0F0 ^ 0x3030303030303030)
}

// eightDigits adds up eight decimal digits in pairs, pairs of pairs and halves, the first digit in the lowest byte.
func eightDigits(eight uint64) int64 {
	eight = eight & 0x0F0F0F0F0F0F0F0F * 2561 >> 8 & 0x00FF00FF00FF00FF
	eight = eight * 6553601 >> 16 & 0x0000FFFF0000FFFF
	return int64(eight * 42949672960001 >> 32)
}

// integer reads an integer argument; numbers in quotes, hexadecimal ones and fractions are understood, anything else
// (N/A, null, inf) leaves the field unset.
func (s *Scanner) integer(b []byte, p int, f Field, e *Event) int {
	if p+8 <= len(b) {
		eight := binary.LittleEndian.Uint64(b[p:])
		n := uint(bits.TrailingZeros64(noDigits(eight))) / 8
		if n-1 < 7 && delimiter(byte(eight>>(8*n))) {
			e.Ints[f] = eightDigits(eight << (64 - 8*n))
			e.set(f)
			return p + int(n)
		}
	}
	v, q := digits(b, p)
	if q > p && q-p <= 18 && q < len(b) && delimiter(b[q]) {
		e.Ints[f] = v
		e.set(f)
		return q
	}
	start, end, q := s.bare(b, p)
	if q < 0 {
		return q
	}
	if v, ok := parseInt(string(b[start:end])); ok {
		e.Ints[f] = v
		e.set(f)
	}
	return q
}

// bare returns the extent of a value without its quotes, and the position after it.
func (s *Scanner) bare(b []byte, p int) (start, end, after int) {
	after = s.skip(b, p)
	if after < 0 {
		return 0, 0, after
	}
	start, end = p, after
	if b[p] == '"' {
		start, end = p+1, after-1
	}
	if end-start > 64 {
		end = start
	}
	return start, end, after
}

func parseInt(text string) (int64, bool) {
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseUint(text, 0, 64); err == nil {
		return int64(v), true // addresses and hashes keep their bits
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(v) < 1<<62 {
		return int64(v), true
	}
	return 0, false
}

// time reads microseconds, decimal, as nanoseconds without going through a float.
func (s *Scanner) time(b []byte, p int, to *int64, f Field, e *Event) int {
	v, q := microseconds(b, p)
	if q == p || v > math.MaxInt64/1000-1 || q >= len(b) {
		return s.timeSlowly(b, p, to, f, e)
	}
	v *= 1000
	if b[q] == '.' {
		s.Fractions = true
		scale := int64(100)
		for q++; q < len(b) && b[q]-'0' <= 9 && scale > 0; q++ {
			v += int64(b[q]-'0') * scale
			scale /= 10
		}
	}
	if q >= len(b) || !delimiter(b[q]) {
		return s.timeSlowly(b, p, to, f, e)
	}
	*to = v
	e.set(f)
	return q
}

// microseconds reads up to sixteen digits, which is what times since 1970 have, and returns the position after them.
func microseconds(b []byte, p int) (int64, int) {
	if p+16 > len(b) {
		return digits(b, p)
	}
	first := binary.LittleEndian.Uint64(b[p:])
	if odd := noDigits(first); odd != 0 {
		n := uint(bits.TrailingZeros64(odd)) / 8
		return eightDigits(first << (64 - 8*n)), p + int(n)
	}
	second := binary.LittleEndian.Uint64(b[p+8:])
	n := uint(bits.TrailingZeros64(noDigits(second))) / 8 // 8 where all are digits
	return eightDigits(first)*shortTens[n] + eightDigits(second<<(64-8*n)), p + 8 + int(n)
}

// timeSlowly reads every other way of writing a time: in quotes, negative, with more digits or an exponent.
func (s *Scanner) timeSlowly(b []byte, p int, to *int64, f Field, e *Event) int {
	start, end, q := s.bare(b, p)
	if q < 0 {
		return q
	}
	if v, ok := parseMicros(string(b[start:end])); ok {
		*to = v
		e.set(f)
	}
	return q
}

func parseMicros(text string) (int64, bool) {
	whole, fraction, ok := splitDecimal(text)
	if v, err := strconv.ParseInt(whole, 10, 64); ok && err == nil && v < math.MaxInt64/1000 && v > -math.MaxInt64/1000 {
		part, err := strconv.ParseFloat("0."+fraction, 64)
		if err != nil {
			return 0, false
		}
		ns := int64(math.Round(part * 1000))
		if whole[0] == '-' {
			ns = -ns
		}
		return v*1000 + ns, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/2000 {
		return 0, false
	}
	return int64(math.Round(v * 1000)), true
}

// splitDecimal cuts "12.5" into "12" and "5"; not ok when there is anything but digits behind the point.
func splitDecimal(text string) (whole, fraction string, ok bool) {
	whole, fraction, _ = bytesCut(text)
	for i := range len(fraction) {
		if fraction[i]-'0' > 9 {
			return "", "", false
		}
	}
	if fraction == "" {
		fraction = "0"
	}
	return whole, fraction, whole != ""
}

func bytesCut(text string) (before, after string, found bool) {
	for i := range len(text) {
		if text[i] == '.' {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}
