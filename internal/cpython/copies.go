package cpython

import "bottleneck/internal/proc"

// Caps of what is read of the copies of one code object's bytecode.
const (
	maxCopies     = 1 << 16
	maxKeptCopies = 256
)

// at gives an instruction's place in bytecode that begins at start, and whether it lies within. A frame that has not
// begun stands before the first one.
func (c *Code) at(instr, start uint64) (int32, bool) {
	limit := int64(maxTable)
	if c.length > 0 {
		limit = int64(c.length)
	}
	d := int64(instr - start)
	return int32(d), d >= -2 && d <= limit
}

// offsetInCopy finds an instruction in the copy with that index: free-threaded builds from 3.14 on give each thread but
// the first one its own bytecode, which it specialises without a lock. A copy goes when no thread uses its index, so
// that places are not kept for long, and one that does not hold the instruction is looked up again.
func (r *Reader) offsetInCopy(c *Code, index uint32, instr uint64) (int32, bool) {
	if r.tick-c.copied < r.every {
		if start, ok := c.copies[index]; ok {
			if d, ok := c.at(instr, start); ok {
				return d, true
			}
		}
	} else {
		clear(c.copies)
		c.copied = r.tick
	}
	start, ok := r.copyOf(c, index)
	if !ok {
		return 0, false
	}
	if c.copies == nil || len(c.copies) >= maxKeptCopies {
		c.copies = map[uint32]uint64{}
	}
	c.copies[index] = start
	return c.at(instr, start)
}

// copyOf reads where a copy begins: the code object points to the number of copies and, behind it, their addresses
// (_PyCodeArray in Include/cpython/code.h).
func (r *Reader) copyOf(c *Code, index uint32) (uint64, bool) {
	if r.l.Code.Copies == none || index >= maxCopies {
		return 0, false
	}
	array, err := proc.U64(r.mem, c.addr+uint64(r.l.Code.Copies))
	if err != nil || array == 0 {
		return 0, false
	}
	n, err := proc.U64(r.mem, array)
	if err != nil || uint64(index) >= n {
		return 0, false
	}
	start, err := proc.U64(r.mem, array+8+8*uint64(index))
	return start, err == nil && start != 0
}
