package pickle

import (
	"encoding/binary"
	"fmt"
)

// textSizes are the operations with a text or bytes, and how many bytes its length takes.
var textSizes = map[byte]int{0x8c: 1, 'X': 4, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8, 0x96: 8}

// rare runs an operation whose code was read already.
func (r *Reader) rare(code byte) error {
	if width, ok := textSizes[code]; ok {
		return r.takeText(width)
	}
	switch code {
	case 0x8a, 0x8b: // LONG1, LONG4
		return r.long(map[byte]int{0x8a: 1, 0x8b: 4}[code])
	case 'u', 's':
		return r.set(code == 'u')
	case 'e', 'a', 0x90: // APPENDS, APPEND, ADDITEMS
		return r.extend(code != 'a')
	case ')':
		return r.tuple(nil)
	case 0x85, 0x86, 0x87:
		items, err := r.last(int(code) - 0x84)
		return errOr(err, func() error { return r.tuple(items) })
	case 't', 0x91: // a tuple, or a frozen set
		items, err := r.above()
		return errOr(err, func() error { return r.tuple(items) })
	case '0': // POP takes a mark like a value
		if n := len(r.marks); n > 0 && r.marks[n-1] == len(r.stack) {
			r.marks = r.marks[:n-1]
			return nil
		}
		_, err := r.pop()
		return err
	case '1':
		_, err := r.above()
		return err
	case '2':
		v, err := r.pop()
		return errOr(err, func() error { r.stack = append(r.stack, v); return r.push(v) })
	}
	return r.class(code)
}

func errOr(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

// length reads the size of what follows.
func (r *Reader) length(width int) (uint64, error) {
	b, err := r.in.take(width)
	if err != nil {
		return 0, err
	}
	var eight [8]byte
	copy(eight[:], b)
	return binary.LittleEndian.Uint64(eight[:]), nil
}

func (r *Reader) takeText(width int) error {
	n, err := r.length(width)
	if err != nil {
		return err
	}
	if n > maxText {
		return fmt.Errorf("a text of %d bytes: %w", n, ErrData)
	}
	b, err := r.in.take(int(n))
	if err != nil {
		return err
	}
	index, known := r.text[string(b)]
	if !known {
		if index = len(r.texts); index >= maxTexts || r.size+int64(n) > maxAll {
			return fmt.Errorf("too many texts: %w", ErrData)
		}
		r.size += int64(n)
		text := string(b)
		r.text[text], r.texts = index, append(r.texts, text)
	}
	return r.push(valueOf(kindText, index))
}

func (r *Reader) long(width int) error {
	n, err := r.length(width)
	if err != nil {
		return err
	}
	if n > maxText {
		return fmt.Errorf("a number of %d bytes: %w", n, ErrData)
	}
	b, err := r.in.take(int(n))
	if err != nil {
		return err
	}
	return r.integer(wideOf(b))
}

// keep stores the items of a container that stays one.
func (r *Reader) keep(items []Value) (Value, error) {
	if len(items) == 0 { // the first table entry is for all of these
		return valueOf(kindTuple, 0), nil
	}
	if r.items += len(items); r.items > maxItems || len(r.tuples) >= maxTuples {
		return 0, fmt.Errorf("too many containers: %w", ErrData)
	}
	r.tuples = append(r.tuples, append([]Value(nil), items...))
	return valueOf(kindTuple, len(r.tuples)-1), nil
}

// maxPairs bounds the pairs of numbers that are kept once each.
const maxPairs = 1 << 12

// tuple pushes a tuple. Pairs of numbers recur, such as the pool that a segment of memory is of.
func (r *Reader) tuple(items []Value) error {
	pair := len(items) == 2 && items[0].kind() == kindInt && items[1].kind() == kindInt
	if pair {
		if v, known := r.pairs[[2]Value(items)]; known {
			return r.push(v)
		}
	}
	v, err := r.keep(items)
	if err != nil {
		return err
	}
	if pair && len(r.pairs) < maxPairs {
		r.pairs[[2]Value(items)] = v
	}
	return r.push(v)
}

// add puts items into container at of a table.
func (r *Reader) add(to *table, at int, items []Value) error {
	cell := to.at(at)
	if cell.kind() != kindTuple || cell.index() == 0 {
		kept, err := r.keep(items)
		to.set(at, kept)
		return err
	}
	if r.items += len(items); r.items > maxItems {
		return fmt.Errorf("too many values: %w", ErrData)
	}
	r.tuples[cell.index()] = append(r.tuples[cell.index()], items...)
	return nil
}

func (r *Reader) operands(many bool, n int) ([]Value, error) {
	if many {
		return r.above()
	}
	return r.last(n)
}

func (r *Reader) top(k kind) (index int, err error) {
	if n := len(r.stack); n > 0 && r.stack[n-1].kind() == k {
		return r.stack[n-1].index(), nil
	}
	return 0, ErrData
}

// resolveAll replaces containers by the rows that they became.
func (r *Reader) resolveAll(items []Value) {
	for i, v := range items {
		items[i] = r.Resolve(v)
	}
}

func (r *Reader) set(many bool) error {
	items, err := r.operands(many, 2)
	if err != nil {
		return err
	}
	at, err := r.top(kindDict)
	if err != nil || len(items)%2 != 0 {
		return ErrData
	}
	cell := r.dicts.at(at)
	if cell.kind() == kindRow {
		return fmt.Errorf("a dictionary that changes after it was complete: %w", ErrData)
	}
	r.resolveAll(items)
	if r.opt.Rows != nil && cell == 0 {
		if row, ok := r.opt.Rows.Dict(items); ok {
			r.dicts.set(at, row)
			return nil
		}
	}
	return r.add(&r.dicts, at, items)
}

func (r *Reader) extend(many bool) error {
	items, err := r.operands(many, 1)
	if err != nil {
		return err
	}
	at, err := r.top(kindList)
	if err != nil {
		return err
	}
	cell := r.lists.at(at)
	r.resolveAll(items)
	if r.opt.Rows != nil && cell.kind() != kindTuple {
		if row, ok := r.opt.Rows.List(cell, items); ok {
			r.lists.set(at, row)
			return nil
		}
		if cell.kind() == kindRow {
			return fmt.Errorf("a list with values of different kinds: %w", ErrData)
		}
	}
	return r.add(&r.lists, at, items)
}

// class runs the operations that name classes.
func (r *Reader) class(code byte) error {
	switch code {
	case 'c':
		module, err := r.in.line()
		if err != nil {
			return err
		}
		name, err := r.in.line()
		return errOr(err, func() error { return r.instance(module+"."+name, 0) })
	case 0x93: // STACK_GLOBAL
		parts, err := r.last(2)
		if err != nil {
			return err
		}
		module, _ := r.Text(parts[0])
		name, _ := r.Text(parts[1])
		return r.instance(module+"."+name, 0)
	case 0x81, 'R', 'b': // NEWOBJ and REDUCE get arguments, BUILD attributes
		parts, err := r.last(2)
		if err != nil {
			return err
		}
		of, state := parts[0], r.Resolve(parts[1])
		class, _, ok := r.Object(of)
		if !ok {
			return ErrData
		}
		if code == 'b' {
			r.objects[of.index()].state = state
			return r.push(of)
		}
		return r.instance(class, state)
	}
	return fmt.Errorf("operation %#x: %w", code, ErrData)
}

func (r *Reader) instance(class string, state Value) error {
	if !r.opt.Objects {
		return fmt.Errorf("it names %.100q, which a file of plain data does not; nothing of it was run: %w", class, ErrData)
	}
	if len(r.objects) >= maxTuples {
		return fmt.Errorf("too many instances: %w", ErrData)
	}
	r.objects = append(r.objects, object{class, state})
	return r.push(valueOf(kindObject, len(r.objects)-1))
}
