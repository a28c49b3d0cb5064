package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Bounds of pickles of other tools.
const (
	maxPickleValues = 8 << 20 // pushed on the stack over all
	maxPickleMemo   = 4 << 20
)

var errPickle = errors.New("no pickle of plain data")

// pickleObject is an instance of a class, which is never made: its name and its attributes.
type pickleObject struct {
	class string
	state any
}

// pickleMark separates what the next collecting operation takes.
type pickleMark struct{}

// pickleList and pickleDict are shared where Python shares them: the memo refers to them while they still grow.
type pickleList struct{ items []any }

type pickleDict struct{ keys, values []any }

// get is the value of a text key, nil where there is none.
func (d *pickleDict) get(key string) any {
	for i, k := range d.keys {
		if k == key {
			return d.values[i]
		}
	}
	return nil
}

// readPickle reads pickles of numbers, texts, tuples, lists, dictionaries and plain instances, as protocols 2 to 5 write
// them (Python, Lib/pickletools.py). It calls nothing: a class is no more than its name.
func readPickle(data []byte) (value any, err error) {
	p := &pickleReader{data: data}
	for p.values < maxPickleValues {
		done, err := p.step()
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", p.at, err)
		}
		if done {
			return p.pop()
		}
	}
	return nil, fmt.Errorf("at byte %d: more than %d values", p.at, maxPickleValues)
}

type pickleReader struct {
	data   []byte
	at     int
	stack  []any
	memo   []any
	values int
}

func (p *pickleReader) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.data)-p.at) {
		return nil, errors.New("the file ends too early")
	}
	b := p.data[p.at : p.at+int(n)]
	p.at += int(n)
	return b, nil
}

// number is an unsigned little-endian number of n bytes.
func (p *pickleReader) number(n uint64) (uint64, error) {
	b, err := p.take(n)
	v := uint64(0)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, err
}

func (p *pickleReader) push(v any) { p.values++; p.stack = append(p.stack, v) }

func (p *pickleReader) pop() (any, error) {
	n := len(p.stack)
	if n == 0 {
		return nil, errPickle
	}
	v := p.stack[n-1]
	p.stack = p.stack[:n-1]
	return v, nil
}

// popMark takes everything above the last mark.
func (p *pickleReader) popMark() ([]any, error) {
	for i := len(p.stack) - 1; i >= 0; i-- {
		if _, ok := p.stack[i].(pickleMark); ok {
			items := append([]any(nil), p.stack[i+1:]...)
			p.stack = p.stack[:i]
			return items, nil
		}
	}
	return nil, errPickle
}

// sizes are the operations that are followed by the size of their data, and how many bytes that size takes.
var pickleTexts = map[byte]uint64{0x8c: 1, 'X': 4, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8}

// pickleNumbers are the operations that are followed by a number, and its bytes.
var pickleNumbers = map[byte]uint64{'K': 1, 'M': 2, 'J': 4}

// step runs one operation; done after the last.
func (p *pickleReader) step() (done bool, err error) {
	op, err := p.number(1)
	if err != nil {
		return false, err
	}
	code := byte(op)
	if width, ok := pickleTexts[code]; ok {
		return false, p.text(width)
	}
	if width, ok := pickleNumbers[code]; ok {
		v, err := p.number(width)
		n := int64(v)
		if code == 'J' {
			n = int64(int32(v))
		}
		p.push(n)
		return false, err
	}
	switch code {
	case '.':
		return true, nil
	case 0x80: // protocol
		_, err = p.take(1)
	case 0x95: // frame
		_, err = p.take(8)
	case 'N':
		p.push(nil)
	case 0x88, 0x89:
		p.push(code == 0x88)
	case 'G':
		var b []byte
		if b, err = p.take(8); err == nil {
			p.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case 0x8a: // LONG1
		err = p.long()
	case '(':
		p.push(pickleMark{})
	case '0':
		_, err = p.pop()
	default:
		return false, p.structure(code)
	}
	return false, err
}

func (p *pickleReader) text(width uint64) error {
	size, err := p.number(width)
	if err != nil {
		return err
	}
	b, err := p.take(size)
	p.push(string(b))
	return err
}

// long is a number of up to eight bytes; larger ones are beyond anything that a profile counts.
func (p *pickleReader) long() error {
	size, err := p.number(1)
	if err != nil || size > 8 {
		return errors.Join(err, errPickle)
	}
	v, err := p.number(size)
	if size > 0 && size < 8 && v>>(8*size-1) == 1 {
		v |= math.MaxUint64 << (8 * size)
	}
	p.push(int64(v))
	return err
}

// structure runs the operations that build containers and refer to earlier values.
func (p *pickleReader) structure(code byte) error {
	switch code {
	case ')':
		p.push([]any{})
	case 0x85, 0x86, 0x87: // tuples of one to three
		n := int(code) - 0x84
		if len(p.stack) < n {
			return errPickle
		}
		items := append([]any(nil), p.stack[len(p.stack)-n:]...)
		p.stack = p.stack[:len(p.stack)-n]
		p.push(items)
	case 't':
		items, err := p.popMark()
		p.push(items)
		return err
	case ']':
		p.push(&pickleList{})
	case '}':
		p.push(&pickleDict{})
	case 'a', 'e':
		return p.extend(code == 'e')
	case 's', 'u':
		return p.set(code == 'u')
	default:
		return p.refer(code)
	}
	return nil
}

func (p *pickleReader) extend(many bool) error {
	items, err := p.operands(many, 1)
	if err != nil {
		return err
	}
	if list, ok := p.top().(*pickleList); ok {
		list.items = append(list.items, items...)
		return nil
	}
	return errPickle
}

func (p *pickleReader) set(many bool) error {
	items, err := p.operands(many, 2)
	if err != nil || len(items)%2 != 0 {
		return errors.Join(err, errPickle)
	}
	dict, ok := p.top().(*pickleDict)
	if !ok {
		return errPickle
	}
	for i := 0; i < len(items); i += 2 {
		dict.keys, dict.values = append(dict.keys, items[i]), append(dict.values, items[i+1])
	}
	return nil
}

// operands takes what stands above the mark, or the last n values.
func (p *pickleReader) operands(many bool, n int) ([]any, error) {
	if many {
		return p.popMark()
	}
	if len(p.stack) < n {
		return nil, errPickle
	}
	items := append([]any(nil), p.stack[len(p.stack)-n:]...)
	p.stack = p.stack[:len(p.stack)-n]
	return items, nil
}

func (p *pickleReader) top() any {
	if len(p.stack) == 0 {
		return nil
	}
	return p.stack[len(p.stack)-1]
}

// refer runs the operations on the memo and on classes.
func (p *pickleReader) refer(code byte) error {
	switch code {
	case 0x94: // MEMOIZE
		return p.remember(uint64(len(p.memo)))
	case 'q', 'r':
		n, err := p.number(map[byte]uint64{'q': 1, 'r': 4}[code])
		return errors.Join(err, p.remember(n))
	case 'h', 'j':
		n, err := p.number(map[byte]uint64{'h': 1, 'j': 4}[code])
		if err != nil || n >= uint64(len(p.memo)) {
			return errors.Join(err, errPickle)
		}
		p.push(p.memo[n])
	case 'c':
		module, err := p.lineOf()
		if err != nil {
			return err
		}
		name, err := p.lineOf()
		p.push(&pickleObject{class: module + "." + name})
		return err
	case 0x93: // STACK_GLOBAL
		parts, err := p.operands(false, 2)
		if err != nil {
			return err
		}
		p.push(&pickleObject{class: fmt.Sprint(parts[0], ".", parts[1])})
	case 0x81, 'R': // NEWOBJ, REDUCE: the arguments are dropped
		parts, err := p.operands(false, 2)
		if err != nil {
			return err
		}
		class, ok := parts[0].(*pickleObject)
		if !ok {
			return errPickle
		}
		p.push(&pickleObject{class: class.class, state: parts[1]})
	case 'b': // BUILD
		parts, err := p.operands(false, 2)
		if err != nil {
			return err
		}
		object, ok := parts[0].(*pickleObject)
		if !ok {
			return errPickle
		}
		object.state = parts[1]
		p.push(object)
	default:
		return fmt.Errorf("operation %#x: %w", code, errPickle)
	}
	return nil
}

func (p *pickleReader) remember(n uint64) error {
	if n > uint64(len(p.memo)) || n >= maxPickleMemo || len(p.stack) == 0 {
		return errPickle
	}
	if n == uint64(len(p.memo)) {
		p.memo = append(p.memo, nil)
	}
	p.memo[n] = p.top()
	return nil
}

func (p *pickleReader) lineOf() (string, error) {
	from := p.at
	for p.at < len(p.data) {
		if p.at++; p.data[p.at-1] == '\n' {
			return string(p.data[from : p.at-1]), nil
		}
	}
	return "", errors.New("the file ends too early")
}
