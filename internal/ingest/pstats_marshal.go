package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds of the marshal reader: what a cProfile file of the largest program stays far below, and what a hostile one cannot
// exceed. Objects are counted per function of the profile and for the table of references.
const (
	marshalMaxDepth  = 8
	marshalMaxText   = 1 << 20
	marshalMaxObject = 4 << 20
	marshalMaxRefs   = 8 << 20
)

// flagRef on a type code says that later 'r' codes may refer to the object.
const flagRef = 0x80

// marshalKind is the type of a decoded object; those that no profile needs are kindNone.
type marshalKind uint8

const (
	kindNone marshalKind = iota
	kindInt
	kindFloat
	kindText
	kindTuple
	kindDict
	kindEnd // the mark that ends a dict
)

// marshalValue is one decoded object. items holds the elements of a tuple, or keys and values of a dict in turn.
type marshalValue struct {
	kind  marshalKind
	i     int64
	f     float64
	s     string
	items []marshalValue
}

// marshalReader decodes CPython's marshal format (Python/marshal.c, versions 0 to 5) as far as pstats files use it:
// dicts, tuples, lists, strings, numbers and references. Code objects are refused: nothing is ever executed.
type marshalReader struct {
	data    []byte
	pos     int
	refs    []marshalValue
	strings []string // Python 2: interned strings, referred to by 'R'
	objects int      // decoded since the last function began
}

var errMarshalShort = errors.New("the data ends in the middle of an object")

func (r *marshalReader) fail(format string, args ...any) error {
	return fmt.Errorf("marshal data at byte %d: %w", r.pos, fmt.Errorf(format, args...))
}

func (r *marshalReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.data)-r.pos {
		return nil, r.fail("%w", errMarshalShort)
	}
	b := r.data[r.pos : r.pos+n]
	r.pos += n
	return b, nil
}

func (r *marshalReader) uint(width int) (int, error) {
	b, err := r.take(width)
	if err != nil {
		return 0, err
	}
	if width == 1 {
		return int(b[0]), nil
	}
	return int(int32(binary.LittleEndian.Uint32(b))), nil
}

// value decodes the next object. depth counts the containers around it.
func (r *marshalReader) value(depth int) (marshalValue, error) {
	b, err := r.take(1)
	if err != nil {
		return marshalValue{}, err
	}
	if r.objects++; r.objects > marshalMaxObject {
		return marshalValue{}, r.fail("more than %d objects in one function's record", marshalMaxObject)
	}
	if depth > marshalMaxDepth {
		return marshalValue{}, r.fail("nested more than %d deep", marshalMaxDepth)
	}
	code, flagged := b[0]&^flagRef, b[0]&flagRef != 0
	slot := -1
	if flagged {
		if len(r.refs) >= marshalMaxRefs {
			return marshalValue{}, r.fail("more than %d references", marshalMaxRefs)
		}
		slot = len(r.refs)
		r.refs = append(r.refs, marshalValue{})
	}
	v, err := r.body(code, depth)
	if err == nil && slot >= 0 {
		r.refs[slot] = v
	}
	return v, err
}

func (r *marshalReader) body(code byte, depth int) (marshalValue, error) {
	switch code {
	case '0':
		return marshalValue{kind: kindEnd}, nil
	case 'N', '.', 'S':
		return marshalValue{}, nil
	case 'T':
		return marshalValue{kind: kindInt, i: 1}, nil
	case 'F':
		return marshalValue{kind: kindInt}, nil
	case 'i', 'I', 'l':
		return r.integer(code)
	case 'g', 'f':
		return r.float(code)
	case 'z', 'Z', 'a', 'A', 'u', 't', 's':
		return r.text(code)
	case 'R', 'r':
		return r.reference(code)
	case ')', '(', '[':
		return r.tuple(code, depth)
	case '{':
		return r.dict(depth)
	}
	return marshalValue{}, r.fail("an object of type %q, which no profile holds", code)
}

func (r *marshalReader) integer(code byte) (marshalValue, error) {
	switch code {
	case 'i':
		n, err := r.uint(4)
		return marshalValue{kind: kindInt, i: int64(n)}, err
	case 'I':
		b, err := r.take(8)
		if err != nil {
			return marshalValue{}, err
		}
		return marshalValue{kind: kindInt, i: int64(binary.LittleEndian.Uint64(b))}, nil
	}
	return r.long()
}

// long decodes an integer of any size, written in digits of 15 bits; those beyond 63 bits become the largest int64.
func (r *marshalReader) long() (marshalValue, error) {
	n, err := r.uint(4)
	if err != nil {
		return marshalValue{}, err
	}
	negative := n < 0
	if negative {
		n = -n
	}
	digits, err := r.take(2 * n)
	if err != nil {
		return marshalValue{}, err
	}
	var v int64
	for k := n - 1; k >= 0; k-- {
		digit := int64(binary.LittleEndian.Uint16(digits[2*k:]))
		if digit >= 1<<15 || v > (math.MaxInt64-digit)>>15 {
			v = math.MaxInt64
			break
		}
		v = v<<15 | digit
	}
	if negative {
		v = -v
	}
	return marshalValue{kind: kindInt, i: v}, nil
}

func (r *marshalReader) float(code byte) (marshalValue, error) {
	if code == 'g' {
		b, err := r.take(8)
		if err != nil {
			return marshalValue{}, err
		}
		return marshalValue{kind: kindFloat, f: math.Float64frombits(binary.LittleEndian.Uint64(b))}, nil
	}
	n, err := r.uint(1)
	if err != nil {
		return marshalValue{}, err
	}
	b, err := r.take(n)
	if err != nil {
		return marshalValue{}, err
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return marshalValue{}, r.fail("the number %q cannot be read", b)
	}
	return marshalValue{kind: kindFloat, f: f}, nil
}

func (r *marshalReader) text(code byte) (marshalValue, error) {
	width := 4
	if code == 'z' || code == 'Z' {
		width = 1
	}
	n, err := r.uint(width)
	if err != nil {
		return marshalValue{}, err
	}
	if n > marshalMaxText {
		return marshalValue{}, r.fail("a text of %d bytes", n)
	}
	b, err := r.take(n)
	if err != nil {
		return marshalValue{}, err
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD") // lone surrogates of file names that were not UTF-8
	if code == 't' {
		r.strings = append(r.strings, s)
	}
	return marshalValue{kind: kindText, s: s}, nil
}

func (r *marshalReader) reference(code byte) (marshalValue, error) {
	n, err := r.uint(4)
	if err != nil {
		return marshalValue{}, err
	}
	if code == 'R' {
		if n < 0 || n >= len(r.strings) {
			return marshalValue{}, r.fail("a reference to string %d of %d", n, len(r.strings))
		}
		return marshalValue{kind: kindText, s: r.strings[n]}, nil
	}
	if n < 0 || n >= len(r.refs) {
		return marshalValue{}, r.fail("a reference to object %d of %d", n, len(r.refs))
	}
	return r.refs[n], nil
}

func (r *marshalReader) tuple(code byte, depth int) (marshalValue, error) {
	width := 4
	if code == ')' {
		width = 1
	}
	n, err := r.uint(width)
	if err != nil {
		return marshalValue{}, err
	}
	if n < 0 || n > len(r.data)-r.pos { // each element takes a byte at least
		return marshalValue{}, r.fail("a tuple of %d elements: %w", n, errMarshalShort)
	}
	v := marshalValue{kind: kindTuple}
	for range n {
		item, err := r.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

func (r *marshalReader) dict(depth int) (marshalValue, error) {
	v := marshalValue{kind: kindDict}
	for {
		key, err := r.value(depth + 1)
		if err != nil || key.kind == kindEnd {
			return v, err
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, key, item)
	}
}
