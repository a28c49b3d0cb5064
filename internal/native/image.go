package native

import (
	"encoding/binary"
	"errors"
	"fmt"

	"bottleneck/internal/proc"
)

// Caps of what is read of an image.
const (
	maxSegments  = 64
	maxEntryLen  = 1 << 16 // bytes of one entry of .eh_frame
	maxTableRows = 1 << 24
)

var errNoTable = errors.New("no unwind table")

// image is an executable or a library as it is mapped: where its unwind table lies.
type image struct {
	path     string
	first    proc.Mapping // that holds its ELF header
	bias     uint64       // mapped minus link-time addresses
	table    uint64       // of .eh_frame_hdr
	rows     uint64       // first row of its search table
	rowCount uint64
	entries  map[uint64]*entry // by address
	symbols  *Symbols          // nil until asked for
	asked    bool
}

// openImage reads the ELF header and the program headers of a mapped file. base is the mapping that holds the header.
func openImage(mem proc.Memory, base proc.Mapping) (*image, error) {
	im := &image{path: base.Path, first: base, entries: map[uint64]*entry{}}
	var head [64]byte // Elf64_Ehdr
	if err := mem.Read(base.Start, head[:]); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if string(head[:4]) != "\x7fELF" || head[4] != 2 || head[5] != 1 {
		return nil, fmt.Errorf("%s at %#x: not a 64-bit ELF file", base.Path, base.Start)
	}
	offset, size, count := le.Uint64(head[32:]), int(le.Uint16(head[54:])), int(le.Uint16(head[56:]))
	if size < 56 || count == 0 || count > maxSegments || offset > base.End-base.Start {
		return nil, fmt.Errorf("%s: %d program headers of %d bytes", base.Path, count, size)
	}
	raw := make([]byte, size*count)
	if err := mem.Read(base.Start+offset, raw); err != nil {
		return nil, err
	}
	const load, ehFrame = 1, 0x6474e550
	lowest, found := uint64(0), false
	for ; len(raw) >= size; raw = raw[size:] {
		at := le.Uint64(raw[16:])
		switch le.Uint32(raw) {
		case load:
			if !found || at < lowest {
				lowest, found = at, true
			}
		case ehFrame:
			im.table = at
		}
	}
	im.bias = base.Start - lowest&^0xfff
	if im.table == 0 || !found {
		return im, nil
	}
	im.table += im.bias
	return im, im.readTable(mem)
}

// readTable reads the head of .eh_frame_hdr (LSB 5.0 core, 10.6.2).
func (im *image) readTable(mem proc.Memory) error {
	var head [20]byte
	if err := mem.Read(im.table, head[:]); err != nil {
		return err
	}
	c := &cursor{b: head[:], addr: im.table}
	version, frame, count, rows := c.u8(), c.u8(), c.u8(), c.u8()
	if version != 1 || rows != encTableOfFourBytes || count == encOmit {
		return nil // no search table: linkers write it unless told not to
	}
	c.pointer(frame, im.table)
	n := c.pointer(count, im.table)
	if c.bad || n > maxTableRows {
		return fmt.Errorf("%s: unwind table of %d rows", im.path, n)
	}
	im.rows, im.rowCount = im.table+uint64(c.at), n
	return nil
}

// row reads one row of the search table: where a function begins and where its entry lies.
func (im *image) row(mem proc.Memory, i uint64) (function, at uint64, err error) {
	var b [8]byte
	if err := mem.Read(im.rows+8*i, b[:]); err != nil {
		return 0, 0, err
	}
	le := binary.LittleEndian
	return im.table + uint64(int64(int32(le.Uint32(b[:])))), im.table + uint64(int64(int32(le.Uint32(b[4:])))), nil
}

// ruleAt finds the rule for a place, by binary search.
func (im *image) ruleAt(mem proc.Memory, pc uint64) (*rule, error) {
	lo, hi := uint64(0), im.rowCount // the last row at or before pc
	var at uint64
	for lo < hi {
		mid := (lo + hi) / 2
		function, entry, err := im.row(mem, mid)
		if err != nil {
			return nil, err
		}
		if function > pc {
			hi = mid
		} else {
			lo, at = mid+1, entry
		}
	}
	if at == 0 {
		return nil, errNoTable
	}
	return im.functionRule(mem, at, pc)
}

// functionRule reads a function's entry and runs it up to pc.
func (im *image) functionRule(mem proc.Memory, at, pc uint64) (*rule, error) {
	c, err := readEntry(mem, at)
	if err != nil {
		return nil, err
	}
	where := c.addr
	back := c.fixed(4)
	e, err := im.commonEntry(mem, where-back)
	if err != nil {
		return nil, err
	}
	from := c.pointer(e.pointers, 0)
	length := c.pointer(e.pointers&formatMask, 0)
	if e.augmented {
		c.block()
	}
	if c.bad || pc < from || pc-from >= length {
		return nil, errNoTable
	}
	r, ok := ruleFor(e, &cursor{b: c.b[c.at:], addr: c.addr + uint64(c.at)}, from, pc)
	if !ok {
		return nil, fmt.Errorf("%s: call frame program at %#x: %w", im.path, at, errNoTable)
	}
	r.from, r.to = from, from+length
	return r, nil
}

func (im *image) commonEntry(mem proc.Memory, at uint64) (*entry, error) {
	if e := im.entries[at]; e != nil {
		return e, nil
	}
	c, err := readEntry(mem, at)
	if err != nil {
		return nil, err
	}
	if c.fixed(4) != 0 {
		return nil, fmt.Errorf("%s: common entry at %#x: %w", im.path, at, errNoTable)
	}
	e, ok := parseEntry(c)
	if !ok {
		return nil, fmt.Errorf("%s: common entry at %#x: %w", im.path, at, errNoTable)
	}
	if len(im.entries) < 1<<12 {
		im.entries[at] = &e
	}
	return &e, nil
}

// readEntry reads an entry of .eh_frame behind its length.
func readEntry(mem proc.Memory, at uint64) (*cursor, error) {
	n, err := proc.U32(mem, at)
	if err != nil {
		return nil, err
	}
	if n < 8 || n > maxEntryLen { // 0 ends the section; 64-bit lengths are not written by anybody
		return nil, fmt.Errorf("entry of %d bytes at %#x: %w", n, at, errNoTable)
	}
	b := make([]byte, n)
	if err := mem.Read(at+4, b); err != nil {
		return nil, err
	}
	return &cursor{b: b, addr: at + 4}, nil
}
