package sqlite

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// Value is one column of one row. It is valid until the next row.
type Value struct {
	kind  byte // 0 nothing, 'i', 'f', 't', 'b'
	wide  bool // text of two bytes a character
	big   bool // big-endian
	n     int64
	bytes []byte
}

// Null says that there is no value.
func (v *Value) Null() bool { return v.kind == 0 }

// Int is a whole number; 0 where the value is none.
func (v *Value) Int() int64 {
	switch v.kind {
	case 'i':
		return v.n
	case 'f':
		if f := math.Float64frombits(uint64(v.n)); f >= math.MinInt64 && f < math.MaxInt64 {
			return int64(f)
		}
	}
	return 0
}

// Float is a number; 0 where the value is none.
func (v *Value) Float() float64 {
	switch v.kind {
	case 'i':
		return float64(v.n)
	case 'f':
		return math.Float64frombits(uint64(v.n))
	}
	return 0
}

// Bytes are the bytes of a text or blob.
func (v *Value) Bytes() []byte { return v.bytes }

// Text is a text; "" where the value is none.
func (v *Value) Text() string {
	if !v.wide {
		return string(v.bytes)
	}
	units := make([]uint16, len(v.bytes)/2)
	for i := range units {
		if units[i] = binary.LittleEndian.Uint16(v.bytes[2*i:]); v.big {
			units[i] = binary.BigEndian.Uint16(v.bytes[2*i:])
		}
	}
	return string(utf16.Decode(units))
}

// Scan calls row for every row of a table with the named columns; columns that the table lacks are null. What is damaged is
// left out and counted. The error is that of row.
func (d *DB) Scan(t *Table, columns []string, row func(v []Value) error) error {
	clear(d.seen)
	s := scan{db: d, rowid: -1, values: make([]Value, len(columns))}
	for i, name := range columns {
		c := t.column(name)
		s.at = append(s.at, c)
		if s.last = max(s.last, c); c >= 0 && c == t.rowid {
			s.rowid = i
		}
	}
	s.of = make([]int, s.last+1)
	for i := range s.of {
		s.of[i] = -1
	}
	for i, c := range s.at {
		if c >= 0 {
			s.of[c] = i
		}
	}
	return d.walk(t.root, 0, func(page []byte, head int) error {
		cells := int(binary.BigEndian.Uint16(page[head+3:]))
		for i := range cells {
			pointer := head + 8 + 2*i
			if pointer+2 > d.usable {
				d.damage.Records++
				break
			}
			if !s.cell(page[:d.usable], int(binary.BigEndian.Uint16(page[pointer:]))) {
				d.damage.Records++
				continue
			}
			if err := row(s.values); err != nil {
				return err
			}
		}
		return nil
	})
}

// scan is one pass over a table.
type scan struct {
	db       *DB
	at       []int // column of the table by value, -1 none
	of       []int // value by column, -1 none
	last     int   // column that is needed last
	rowid    int   // value that is the row's number, -1 none
	values   []Value
	overflow []byte
}

// cell reads the row at an offset of a page; false where it does not fit.
func (s *scan) cell(page []byte, at int) bool {
	if at >= len(page) {
		return false
	}
	whole, n := varint(page[at:])
	if n == 0 {
		return false
	}
	at += n
	rowid, n := varint(page[at:])
	if n == 0 {
		return false
	}
	record := s.db.payload(page, at+n, whole, &s.overflow)
	head, n := varint(record)
	if n == 0 || head > uint64(len(record)) || head < uint64(n) {
		return false
	}
	clear(s.values)
	types, body := record[n:head], record[head:]
	for column := 0; column <= s.last && len(types) > 0; column++ {
		serial, n := varint(types)
		if n == 0 {
			return false
		}
		types = types[n:]
		size := serialSize(serial)
		if size > uint64(len(body)) {
			return uint64(len(record)) < whole // cut by an overflow page that is missing: what was read counts
		}
		if i := s.of[column]; i >= 0 {
			s.value(&s.values[i], serial, body[:size])
		}
		body = body[size:]
	}
	if s.rowid >= 0 && s.values[s.rowid].kind == 0 {
		s.values[s.rowid] = Value{kind: 'i', n: int64(rowid)}
	}
	return true
}

var fixedSizes = [...]uint64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}

func serialSize(serial uint64) uint64 {
	if serial < 12 {
		return fixedSizes[serial]
	}
	return (serial - 12) / 2
}

func (s *scan) value(to *Value, serial uint64, b []byte) {
	switch {
	case serial == 0 || serial == 10 || serial == 11:
		*to = Value{}
	case serial == 7:
		*to = Value{kind: 'f', n: int64(binary.BigEndian.Uint64(b))}
	case serial == 8 || serial == 9:
		*to = Value{kind: 'i', n: int64(serial - 8)}
	case serial < 7:
		n := int64(int8(b[0]))
		for _, c := range b[1:] {
			n = n<<8 | int64(c)
		}
		*to = Value{kind: 'i', n: n}
	case serial%2 == 0:
		*to = Value{kind: 'b', bytes: b}
	default:
		*to = Value{kind: 't', bytes: b, wide: s.db.encoding > 1, big: s.db.encoding == 3}
	}
}
