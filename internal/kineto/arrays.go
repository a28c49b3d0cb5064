package kineto

import (
	"math"
	"strconv"
)

// array interns a raw JSON value in JSON. An array's text shows its own end, so one that begins like an array that came
// after the same one under the same name and key before is that array.
func (s *Scanner) array(b []byte, p int, n *node, e *Event) int {
	if n.memo == nil {
		n.memo = new([memoSize][2]Text)
	}
	last := &n.memo[(uint32(e.Name)*0x9E3779B1^uint32(n.prev)*0x85EBCA6B)>>(32-memoBits)]
	e.set(n.field)
	rest := b[p:]
	for way, id := range last {
		known := s.JSON.String(id)
		if id != 0 && len(rest) > len(known) && string(rest[:len(known)]) == known {
			last[way], last[0] = last[0], id
			e.Texts[n.field-endFloats], n.prev = id, id
			return p + len(known)
		}
	}
	end := s.skip(b, p)
	if end < 0 {
		return end
	}
	id := s.JSON.Intern(b[p:end])
	if b[p] == '[' {
		last[0], last[1] = id, last[0]
	}
	e.Texts[n.field-endFloats], n.prev = id, id
	return end
}

// rare reads the values that are not worth a case of their own in the inner loop.
func (s *Scanner) rare(b []byte, p int, n *node, e *Event) int {
	switch n.act {
	case actString:
		id, q := s.text(b, p)
		if q >= 0 {
			e.Texts[n.field-endFloats] = id
			e.set(n.field)
		}
		return q
	case actFloat:
		if v, q := shortFloat(b, p); q > p {
			e.Floats[n.field-numInts] = v
			e.set(n.field)
			return q
		}
		start, end, q := s.bare(b, p)
		if q < 0 {
			return q
		}
		if v, err := strconv.ParseFloat(string(b[start:end]), 32); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			e.Floats[n.field-numInts] = float32(v)
			e.set(n.field)
		}
		return q
	case actGrid:
		e.set(hasGrid)
		return s.triple(b, p, &e.Grid)
	case actBlock:
		return s.triple(b, p, &e.Block)
	case actFinished:
		start, end, q := s.bare(b, p)
		if q >= 0 && string(b[start:end]) == "false" {
			e.set(hasUnfinished)
		}
		return q
	case actExtra:
		q := s.skip(b, p)
		if q >= 0 {
			e.Extra = append(e.Extra, Extra{n.key, b[p:q]})
		}
		return q
	}
	return s.skip(b, p)
}

// tens are the powers of ten that a float64 holds exactly, as far as they are needed.
var tens = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortFloat reads a plain decimal number of up to 15 digits and the position after it, p where there is none. Its digits
// and the power of ten are exact in a float64, so their quotient is the nearest one; rounding that once more, to 24 bits,
// gives the nearest float32 unless it lies just between two.
func shortFloat(b []byte, p int) (float32, int) {
	v, q := digits(b, p)
	count, places := q-p, 0
	if count > 0 && q < len(b) && b[q] == '.' {
		fraction, end := digits(b, q+1)
		places = end - q - 1
		if count += places; count > 15 {
			return 0, p
		}
		v, q = v*int64(tens[places])+fraction, end
	}
	if count == 0 || count > 15 || q >= len(b) || !delimiter(b[q]) {
		return 0, p
	}
	f := float64(v) / tens[places]
	if math.Float64bits(f)&(1<<29-1) == 1<<28 {
		return 0, p
	}
	return float32(f), q
}

// triple reads launch dimensions.
func (s *Scanner) triple(b []byte, p int, to *[3]int32) int {
	if q := plainTriple(b, p, to); q > p {
		return q
	}
	end := s.skip(b, p)
	if end < 0 {
		return end
	}
	*to = [3]int32{}
	i := 0
	for q := p; q < end && i < 3; {
		if b[q]-'0' > 9 {
			q++
			continue
		}
		var v int64
		v, q = digits(b[:end], q)
		to[i] = int32(min(v, math.MaxInt32))
		i++
	}
	return end
}

// plainTriple reads three short numbers in brackets and returns the position after them; p where it is anything else.
func plainTriple(b []byte, p int, to *[3]int32) int {
	q := p
	for i := range to {
		if q >= len(b) || b[q] != "[,,"[i] {
			return p
		}
		from := blanks(b, q+1)
		v, end := digits(b, from)
		if end == from || end-from > 9 {
			return p
		}
		to[i], q = int32(v), end
	}
	if q = blanks(b, q); q >= len(b) || b[q] != ']' {
		return p
	}
	return q + 1
}
