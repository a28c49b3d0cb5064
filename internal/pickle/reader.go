package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Bounds of what a pickle may make a reader keep. With all of them reached a reader holds some two gigabytes; real files of
// a gigabyte reach a tenth.
const (
	maxMemo   = 1 << 26
	maxDicts  = 1 << 26
	maxLists  = 1 << 26
	maxStack  = 1 << 22
	maxTuples = 1 << 22 // tuples, and lists and dictionaries that did not become rows
	maxItems  = 1 << 26 // within these
	maxTexts  = 1 << 22
	maxNumber = 1 << 24 // numbers that have a table
	maxText   = 16 << 20
	maxAll    = 1 << 30 // bytes of all texts that differ
)

// ErrData is for a text that is no pickle of plain data.
var ErrData = errors.New("no pickle of plain data")

// Options say how a pickle is read.
type Options struct {
	// Rows, where not nil, may take over dictionaries and lists.
	Rows Rows
	// Texts get the first indices (Value.TextIndex).
	Texts []string
	// Objects allows plain instances, of which the class's name and the attributes are kept. Else a pickle that names any
	// class or function is refused.
	Objects bool
}

// Rows turns containers into rows of a caller as soon as they are complete.
type Rows interface {
	// Dict is offered the keys and values of a new dictionary in turn.
	Dict(pairs []Value) (row Value, ok bool)
	// List is offered the items of a list, with the row that it became before if it grows.
	List(before Value, items []Value) (row Value, ok bool)
}

type object struct {
	class string
	state Value
}

// Reader is the machine.
type Reader struct {
	opt     Options
	in      source
	stack   []Value
	marks   []int // heights of the stack
	memo    table
	wide    []wideInt
	floats  []float64
	texts   []string
	text    map[string]int
	size    int64 // of all texts
	tuples  [][]Value
	items   int
	pairs   map[[2]Value]Value
	lists   table // none: empty; else a tuple with the items, or a row
	dicts   table
	objects []object
}

// NewReader makes a reader of one pickle.
func NewReader(in io.Reader, opt Options) *Reader {
	r := &Reader{opt: opt, in: source{in: in, buf: make([]byte, 0, 1<<18)}, text: map[string]int{}, tuples: make([][]Value, 1),
		pairs: map[[2]Value]Value{}}
	for _, t := range opt.Texts {
		r.text[t] = len(r.texts)
		r.texts = append(r.texts, t)
	}
	return r
}

// Read reads the pickle and returns its value. The error says at which byte the text is no pickle of plain data, or ends.
func (r *Reader) Read() (Value, error) {
	for {
		done, err := r.step()
		if err != nil {
			return 0, fmt.Errorf("at byte %d: %w", r.in.offset(), err)
		}
		if done {
			v, err := r.pop()
			return r.Resolve(v), err
		}
	}
}

// Offset is how far the text was read.
func (r *Reader) Offset() int64 { return r.in.offset() }

// step runs one operation; done after the last. The frequent ones come first.
func (r *Reader) step() (done bool, err error) {
	b, err := r.in.need(9)
	if err != nil {
		return false, err
	}
	code := b[0]
	switch code {
	case 'h': // BINGET
		return false, r.get(2, uint64(b[1]))
	case 'j': // LONG_BINGET
		return false, r.get(5, uint64(binary.LittleEndian.Uint32(b[1:])))
	case 0x94: // MEMOIZE
		return false, r.put(1, uint64(r.memo.n))
	case 'q':
		return false, r.put(2, uint64(b[1]))
	case 'r':
		return false, r.put(5, uint64(binary.LittleEndian.Uint32(b[1:])))
	case 'K':
		return false, r.number(2, int64(b[1]))
	case 'M':
		return false, r.number(3, int64(binary.LittleEndian.Uint16(b[1:])))
	case 'J':
		return false, r.number(5, int64(int32(binary.LittleEndian.Uint32(b[1:]))))
	case '(':
		r.marks = append(r.marks, len(r.stack))
		return false, r.used(1, len(r.marks), maxStack)
	case ']', 0x8f: // a list or a set
		r.lists.set(r.lists.n, 0)
		return false, r.container(kindList, r.lists.n, maxLists)
	case '}':
		r.dicts.set(r.dicts.n, 0)
		return false, r.container(kindDict, r.dicts.n, maxDicts)
	case 0x80: // PROTO
		return false, r.protocol(b[1])
	case 0x95: // FRAME
		return false, r.used(9, 0, 1)
	case 'N':
		return false, errors.Join(r.used(1, 0, 1), r.push(valueOf(kindNone, 0)))
	case 0x88, 0x89:
		return false, errors.Join(r.used(1, 0, 1), r.push(valueOf(kindBool, 0x89-int(code))))
	case 'G':
		r.floats = append(r.floats, math.Float64frombits(binary.BigEndian.Uint64(b[1:])))
		return false, errors.Join(r.used(9, len(r.floats), maxNumber), r.push(valueOf(kindFloat, len(r.floats)-1)))
	case '.':
		return true, r.used(1, 0, 1)
	}
	r.in.p++
	return false, r.rare(code)
}

// used moves past an operation of n bytes, and refuses it where a table has grown beyond its bound.
func (r *Reader) used(n, size, bound int) error {
	if r.in.left() < n {
		return io.ErrUnexpectedEOF
	}
	r.in.p += n
	if size > bound {
		return fmt.Errorf("more than %d values of a kind: %w", bound, ErrData)
	}
	return nil
}

func (r *Reader) protocol(version byte) error {
	if version > 5 {
		return fmt.Errorf("protocol %d, which is newer than 5", version)
	}
	return r.used(2, 0, 1)
}

func (r *Reader) push(v Value) error {
	if len(r.stack) >= maxStack {
		return fmt.Errorf("more than %d values at once: %w", maxStack, ErrData)
	}
	r.stack = append(r.stack, v)
	return nil
}

func (r *Reader) pop() (Value, error) {
	n := len(r.stack)
	if n == 0 || len(r.marks) > 0 && r.marks[len(r.marks)-1] >= n {
		return 0, ErrData
	}
	v := r.stack[n-1]
	r.stack = r.stack[:n-1]
	return v, nil
}

// above takes everything above the last mark; it is valid until the next push.
func (r *Reader) above() ([]Value, error) {
	if len(r.marks) == 0 {
		return nil, ErrData
	}
	from := r.marks[len(r.marks)-1]
	r.marks = r.marks[:len(r.marks)-1]
	items := r.stack[from:]
	r.stack = r.stack[:from]
	return items, nil
}

// last takes the last n values; they are valid until the next push.
func (r *Reader) last(n int) ([]Value, error) {
	low := len(r.stack) - n
	if low < 0 || len(r.marks) > 0 && r.marks[len(r.marks)-1] > low {
		return nil, ErrData
	}
	items := r.stack[low:]
	r.stack = r.stack[:low]
	return items, nil
}

func (r *Reader) get(size int, n uint64) error {
	if err := r.used(size, 0, 1); err != nil {
		return err
	}
	if n >= uint64(r.memo.n) {
		return ErrData
	}
	return r.push(r.memo.at(int(n)))
}

// put remembers the last value. Numbers come in order in all that Python and PyTorch write; gaps are none.
func (r *Reader) put(size int, n uint64) error {
	if err := r.used(size, r.memo.n, maxMemo); err != nil {
		return err
	}
	if len(r.stack) == 0 || n > uint64(r.memo.n) {
		return ErrData
	}
	r.memo.set(int(n), r.stack[len(r.stack)-1])
	return nil
}

// table holds values in chunks, so that nothing is copied while it grows.
type table struct {
	chunks [][]Value
	n      int
}

const tableChunk = 1 << 14

func (t *table) at(i int) Value { return t.chunks[i/tableChunk][i%tableChunk] }

// set puts a value at a place that is there already, or the next one.
func (t *table) set(i int, v Value) {
	if i == len(t.chunks)*tableChunk {
		t.chunks = append(t.chunks, make([]Value, tableChunk))
	}
	t.chunks[i/tableChunk][i%tableChunk] = v
	t.n = max(t.n, i+1)
}

// Release gives up everything but texts.
func (r *Reader) Release() {
	r.stack, r.memo, r.lists, r.dicts, r.tuples, r.in.buf = nil, table{}, table{}, table{}, nil, nil
}

// container pushes the newest list or dictionary.
func (r *Reader) container(k kind, size, bound int) error {
	if err := r.used(1, size, bound); err != nil {
		return err
	}
	return r.push(valueOf(k, size-1))
}

func (r *Reader) number(size int, n int64) error {
	if err := r.used(size, 0, 1); err != nil {
		return err
	}
	return r.integer(wideInt{n, true})
}

func (r *Reader) integer(w wideInt) error {
	if v, fits := intValue(w.n); fits && w.exact {
		return r.push(v)
	}
	if len(r.wide) >= maxNumber {
		return fmt.Errorf("more than %d large numbers: %w", maxNumber, ErrData)
	}
	r.wide = append(r.wide, w)
	return r.push(valueOf(kindWide, len(r.wide)-1))
}
