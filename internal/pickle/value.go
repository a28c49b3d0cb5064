package pickle

import "math"

// Value is one value of a pickle: what it is in the low four bits, above them a number or an index into the reader's tables.
type Value uint64

type kind uint8

const (
	kindNone kind = iota
	kindBool
	kindInt   // of up to 60 bits, in the value itself
	kindWide  // a larger integer, by its index
	kindFloat // by index
	kindText  // by index
	kindTuple // by index, like the following
	kindList
	kindDict
	kindObject
	kindRow // a row of the caller's
)

const kindBits = 4

func valueOf(k kind, index int) Value { return Value(index)<<kindBits | Value(k) }

func (v Value) kind() kind { return kind(v & (1<<kindBits - 1)) }
func (v Value) index() int { return int(v >> kindBits) }

// Row is the value that stands for row n of a caller.
func Row(n int) Value { return valueOf(kindRow, n) }

// AsRow is the caller's row that a value stands for.
func (v Value) AsRow() (n int, ok bool) { return v.index(), v.kind() == kindRow }

func intValue(n int64) (Value, bool) {
	v := Value(n<<kindBits) | Value(kindInt)
	return v, int64(v)>>kindBits == n
}

// Int is an integer. One beyond 64 bits is the nearest of them, which is not exact: exact is false.
func (r *Reader) Int(v Value) (n int64, exact bool) {
	switch v.kind() {
	case kindInt:
		return int64(v) >> kindBits, true
	case kindWide:
		w := r.wide[v.index()]
		return w.n, w.exact
	}
	return 0, false
}

// Number is an integer or a number with a fraction.
func (r *Reader) Number(v Value) (f float64, ok bool) {
	switch v.kind() {
	case kindInt, kindWide:
		n, _ := r.Int(v)
		return float64(n), true
	case kindFloat:
		return r.floats[v.index()], true
	}
	return 0, false
}

// Bool is a truth value.
func (r *Reader) Bool(v Value) (b, ok bool) { return v.index() != 0, v.kind() == kindBool }

// Text is a text, or bytes.
func (r *Reader) Text(v Value) (s string, ok bool) {
	if v.kind() != kindText {
		return "", false
	}
	return r.texts[v.index()], true
}

// TextAt is the text of an index.
func (r *Reader) TextAt(index int) string {
	if index < 0 || index >= len(r.texts) {
		return ""
	}
	return r.texts[index]
}

// TextIndex is a number that equal texts have alike: those in Options.Texts their place there.
func (v Value) TextIndex() (n int, ok bool) { return v.index(), v.kind() == kindText }

// List are the items of a list, tuple or set.
func (r *Reader) List(v Value) (items []Value, ok bool) {
	switch v.kind() {
	case kindTuple:
		return r.tuples[v.index()], true
	case kindList:
		if c := r.lists.at(v.index()); c.kind() == kindTuple {
			return r.tuples[c.index()], true
		}
		return nil, true
	}
	return nil, false
}

// Pairs are the keys and values of a dictionary in turn, in the order of the file; a key may stand twice, and the last counts.
func (r *Reader) Pairs(v Value) (pairs []Value, ok bool) {
	if v.kind() != kindDict {
		return nil, false
	}
	if c := r.dicts.at(v.index()); c.kind() == kindTuple {
		return r.tuples[c.index()], true
	}
	return nil, true
}

// Get is the value of a dictionary's text key.
func (r *Reader) Get(dict Value, key string) (v Value, ok bool) {
	pairs, _ := r.Pairs(dict)
	for i := len(pairs) - 2; i >= 0; i -= 2 {
		if text, isText := r.Text(pairs[i]); isText && text == key {
			return r.Resolve(pairs[i+1]), true
		}
	}
	return 0, false
}

// Object is the name of an instance's class, and its attributes or the arguments that it was made with.
func (r *Reader) Object(v Value) (class string, state Value, ok bool) {
	if v.kind() != kindObject {
		return "", 0, false
	}
	o := r.objects[v.index()]
	return o.class, o.state, true
}

// Resolve is the caller's row that a list or dictionary became, and any other value itself.
func (r *Reader) Resolve(v Value) Value {
	var c Value
	switch v.kind() {
	case kindList:
		c = r.lists.at(v.index())
	case kindDict:
		c = r.dicts.at(v.index())
	}
	if c.kind() == kindRow {
		return c
	}
	return v
}

// wideInt is an integer of more than 60 bits.
type wideInt struct {
	n     int64
	exact bool
}

// wideOf reads a little-endian integer in two's complement.
func wideOf(b []byte) wideInt {
	n, exact := uint64(0), true
	negative := len(b) > 0 && b[len(b)-1]&0x80 != 0
	fill := byte(0)
	if negative {
		fill, n = 0xff, math.MaxUint64
	}
	for i := len(b) - 1; i >= 0; i-- {
		if i >= 8 {
			exact = exact && b[i] == fill
			continue
		}
		n = n<<8 | uint64(b[i])
	}
	if exact && (int64(n) < 0) == negative {
		return wideInt{int64(n), true}
	}
	if negative {
		return wideInt{math.MinInt64, false}
	}
	return wideInt{math.MaxInt64, false}
}
