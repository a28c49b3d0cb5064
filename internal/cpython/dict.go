package cpython

import (
	"encoding/binary"
	"fmt"

	"bottleneck/internal/proc"
)

// Limits of dictionaries that are searched: sys.modules of a large program has some thousands of entries.
const (
	maxEntries   = 1 << 16
	maxKeyLength = 64
)

// dictEntry is one pair of a dictionary; a deleted one has no value.
type dictEntry struct{ key, value uint64 }

// dictKeys is a PyDictKeysObject (Include/internal/pycore_dict.h; to 3.10 Objects/dict-common.h): where its entries lie.
type dictKeys struct {
	entries uint64
	n, size int
}

func (r *Reader) dictKeys(addr uint64) (dictKeys, error) {
	var head [40]byte
	if err := r.mem.Read(addr, head[:]); err != nil {
		return dictKeys{}, err
	}
	var k dictKeys
	if r.l.Forms.KeysByLog { // log2 of the table, log2 of the bytes of its index, kind
		if head[9] > 40 {
			return k, fmt.Errorf("dictionary with an index of 2^%d bytes: %w", head[9], errGarbage)
		}
		k.n, k.size = int(word(head[:], 24)&(1<<32-1)), 24
		if head[10] != 0 {
			k.size = 16 // keys are texts, whose hash is in themselves
		}
		k.entries = addr + 32 + 1<<head[9]
	} else {
		table := word(head[:], 8)
		k.n, k.size = int(word(head[:], 32)&(1<<32-1)), 24
		width := uint64(1)
		switch {
		case table > 0xffffffff:
			return k, fmt.Errorf("dictionary with a table of %d: %w", table, errGarbage)
		case table > 0xffff:
			width = 4
		case table > 0xff:
			width = 2
		}
		k.entries = addr + 40 + table*width
	}
	if k.n > maxEntries {
		return k, fmt.Errorf("dictionary of %d entries: %w", k.n, errGarbage)
	}
	return k, nil
}

// pairs reads the entries; in a shared table the values are elsewhere.
func (r *Reader) pairs(k dictKeys) ([]dictEntry, error) {
	raw := make([]byte, k.n*k.size)
	if err := r.mem.Read(k.entries, raw); err != nil {
		return nil, err
	}
	out := make([]dictEntry, k.n)
	for i := range out {
		at := i*k.size + k.size - 16
		out[i] = dictEntry{binary.LittleEndian.Uint64(raw[at:]), binary.LittleEndian.Uint64(raw[at+8:])}
	}
	return out, nil
}

// dictItems reads a dictionary's pairs.
func (r *Reader) dictItems(dict uint64) ([]dictEntry, error) {
	o := &r.l.Object
	p, err := proc.U64(r.mem, dict+uint64(o.DictKeys))
	if err != nil {
		return nil, err
	}
	k, err := r.dictKeys(p)
	if err != nil {
		return nil, err
	}
	list, err := r.pairs(k)
	if err != nil {
		return nil, err
	}
	values, err := proc.U64(r.mem, dict+uint64(o.DictValues))
	if err != nil || values == 0 {
		return list, err
	}
	values += uint64(r.l.Forms.ValuesHead) // capacity, size and flags come first
	words, err := readWords(r.mem, values, len(list))
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].value = words[i]
	}
	return list, nil
}

// dictGet looks a plain text key up in a dictionary; 0 where it is not there.
func (r *Reader) dictGet(dict uint64, key string) (uint64, error) {
	list, err := r.dictItems(dict)
	if err != nil {
		return 0, err
	}
	if i := r.findKey(list, key); i >= 0 {
		return list[i].value, nil
	}
	return 0, nil
}

// findKey compares the keys with an ASCII text, many in one system call; -1 where none is equal.
func (r *Reader) findKey(list []dictEntry, key string) int {
	o := &r.l.Object
	width := o.UniASCII + len(key)
	if len(key) > maxKeyLength || o.UniLength+8 > width {
		return -1
	}
	buf := make([]byte, width*len(list))
	ranges := make([]proc.Range, 0, len(list))
	for i := range list {
		ranges = append(ranges, proc.Range{Addr: list[i].key, Buf: buf[width*i : width*(i+1)]})
	}
	for done := 0; done < len(ranges); done++ { // a key that is shorter, at the end of a mapping, cannot be read so
		n, err := r.readAll(ranges[done:])
		if err != nil {
			return -1
		}
		for i := done; i < done+n; i++ {
			b := ranges[i].Buf
			if word(b, o.UniLength) == uint64(len(key)) && string(b[o.UniASCII:]) == key {
				return i
			}
		}
		done += n
	}
	return -1
}

// Places in type objects, which have not moved since 3.8 (Include/cpython/object.h), and flags of them.
const (
	typeBasicSize     = 32
	typeDictOffset    = 288
	typeManagedDict   = 1 << 4
	typeInlineValues  = 1 << 2
	managedDictBehind = 24 // bytes before the object
	valuesBehind311   = 32
)

// attribute reads an attribute that is kept in an instance's dictionary or in the values of its own; 0 where it has none.
func (r *Reader) attribute(obj uint64, name string) (uint64, error) {
	o := &r.l.Object
	typ, err := proc.U64(r.mem, obj+uint64(o.Type))
	if err != nil {
		return 0, err
	}
	if r.l.Forms.Attributes == attributesDict {
		offset, err := proc.U64(r.mem, typ+typeDictOffset)
		if err != nil || offset == 0 || offset > maxStructLen {
			return 0, err
		}
		return r.attributeOfDict(obj+offset, name)
	}
	flags, err := proc.U64(r.mem, typ+uint64(o.TypeFlags))
	if err != nil || flags&typeManagedDict == 0 {
		return 0, err
	}
	values, dict, err := r.instance(obj, typ, flags)
	if err != nil || values == 0 {
		if dict == 0 {
			return 0, err
		}
		return r.dictGet(dict, name)
	}
	return r.valueOf(typ, values, name)
}

func (r *Reader) attributeOfDict(at uint64, name string) (uint64, error) {
	dict, err := proc.U64(r.mem, at)
	if err != nil || dict == 0 {
		return 0, err
	}
	return r.dictGet(dict, name)
}

// instance finds where an object keeps its attributes: values in the order of the type's keys, or a dictionary.
func (r *Reader) instance(obj, typ, flags uint64) (values, dict uint64, err error) {
	behind := uint64(managedDictBehind)
	if r.l.FreeThreaded {
		behind = 8
	}
	if dict, err = proc.U64(r.mem, obj-behind); err != nil {
		return 0, 0, err
	}
	switch form := r.l.Forms.Attributes; {
	case form == attributesBehind:
		values, err = proc.U64(r.mem, obj-valuesBehind311)
	case form == attributesTagged && dict&1 != 0:
		values, dict = dict+1, 0
	case form == attributesInline && flags&typeInlineValues != 0:
		size, err := proc.U64(r.mem, typ+typeBasicSize+r.extra())
		if err != nil || size > maxStructLen {
			return 0, dict, err
		}
		head, err := proc.U32(r.mem, obj+size)
		if err != nil || head>>24 == 0 { // not valid any more
			return 0, dict, err
		}
		values = obj + size + 8
	}
	return values, dict, err
}

// extra is by how much a free-threaded build's object header is longer.
func (r *Reader) extra() uint64 { return uint64(r.l.Object.Header - 16) }

// valueOf reads the value of a name by its place in the type's keys.
func (r *Reader) valueOf(typ, values uint64, name string) (uint64, error) {
	keys, err := proc.U64(r.mem, typ+uint64(r.l.Object.HeapKeys))
	if err != nil || keys == 0 {
		return 0, err
	}
	k, err := r.dictKeys(keys)
	if err != nil {
		return 0, err
	}
	list, err := r.pairs(k)
	if err != nil {
		return 0, err
	}
	i := r.findKey(list, name)
	if i < 0 {
		return 0, nil
	}
	return proc.U64(r.mem, values+8*uint64(i))
}
