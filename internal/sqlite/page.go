package sqlite

import (
	"encoding/binary"
	"io"
)

// blockSize is how much of the file is read at a time: pages of a table mostly follow each other.
const blockSize = 1 << 18

// page copies page n into buf; false where the file does not have it.
func (d *DB) page(n uint32, buf []byte) bool {
	at := int64(n-1) * int64(d.pageSize)
	if n == 0 || at+int64(d.pageSize) > d.size {
		return false
	}
	from := at / blockSize * blockSize
	if d.blockAt != from {
		if d.block == nil {
			d.block = make([]byte, blockSize)
		}
		d.blockAt = from
		k, err := d.in.ReadAt(d.block[:blockSize], from)
		if err != nil && err != io.EOF {
			k = 0
		}
		d.block = d.block[:k]
	}
	if int(at-from)+d.pageSize > len(d.block) {
		d.block, d.blockAt = d.block[:0:cap(d.block)], -1
		return false
	}
	copy(buf, d.block[at-from:])
	return true
}

// visit says whether a page is new to the table that is being read: in an intact file every page is.
func (d *DB) visit(n uint32) bool {
	word, bit := int(n/64), uint64(1)<<(n%64)
	if int64(n) > d.size/int64(d.pageSize) {
		return false
	}
	if word >= len(d.seen) {
		d.seen = append(d.seen, make([]uint64, word+1-len(d.seen))...)
	}
	if d.seen[word]&bit != 0 {
		return false
	}
	d.seen[word] |= bit
	return true
}

func (d *DB) bad(n uint32) {
	if d.damage.Pages++; d.damage.First == 0 {
		d.damage.First = int64(n)
	}
}

// maxDepth is more levels than a table of the largest file has.
const maxDepth = 24

// Kinds of pages.
const (
	interiorPage = 5
	leafPage     = 13
)

// walk goes over the leaves below page n in order.
func (d *DB) walk(n uint32, depth int, leaf func(page []byte, head int) error) error {
	page := make([]byte, d.pageSize)
	if depth > maxDepth || !d.visit(n) || !d.page(n, page) {
		d.bad(n)
		return nil
	}
	head := 0
	if n == 1 {
		head = 100
	}
	switch page[head] {
	case leafPage:
		return leaf(page, head)
	case interiorPage:
		cells := int(binary.BigEndian.Uint16(page[head+3:]))
		for i := range cells {
			pointer := head + 12 + 2*i
			if pointer+2 > d.usable {
				d.bad(n)
				break
			}
			cell := int(binary.BigEndian.Uint16(page[pointer:]))
			if cell+4 > d.usable {
				d.bad(n)
				continue
			}
			if err := d.walk(binary.BigEndian.Uint32(page[cell:]), depth+1, leaf); err != nil {
				return err
			}
		}
		return d.walk(binary.BigEndian.Uint32(page[head+8:]), depth+1, leaf)
	}
	d.bad(n)
	return nil
}

// varint reads SQLite's number of up to nine bytes; n is 0 where the bytes end.
func varint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 8; i++ {
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	if len(b) < 9 {
		return 0, 0
	}
	return v<<8 | uint64(b[8]), 9
}

// maxPayload bounds a record; of longer ones only the columns on their page are read.
const maxPayload = 16 << 20

// payload is a record's bytes: in the page, or gathered from the pages that it overflows to. It may be shorter than size.
func (d *DB) payload(page []byte, at int, size uint64, buf *[]byte) []byte {
	usable := uint64(d.usable)
	if size <= usable-35 {
		if uint64(at)+size > usable {
			return nil
		}
		return page[at : at+int(size)]
	}
	local := (usable-12)*32/255 - 23
	if k := local + (size-local)%(usable-4); k <= usable-35 {
		local = k
	}
	if uint64(at)+local+4 > usable {
		return nil
	}
	out := append((*buf)[:0], page[at:at+int(local)]...)
	next := binary.BigEndian.Uint32(page[at+int(local):])
	over := make([]byte, d.pageSize)
	for next != 0 && uint64(len(out)) < min(size, maxPayload) {
		if !d.visit(next) || !d.page(next, over) {
			d.bad(next)
			break
		}
		out = append(out, over[4:4+min(size-uint64(len(out)), usable-4)]...)
		next = binary.BigEndian.Uint32(over)
	}
	*buf = out
	return out
}
