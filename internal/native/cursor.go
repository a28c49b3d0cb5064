package native

import "encoding/binary"

// cursor reads the numbers of call frame information; reading over the end gives zeros and is remembered.
type cursor struct {
	b    []byte
	at   int
	addr uint64 // of b[0] in the target
	bad  bool
}

func (c *cursor) more() bool { return !c.bad && c.at < len(c.b) }

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.bad = true
		c.at = len(c.b)
		return make([]byte, min(max(n, 0), 8))
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) u8() byte { return c.take(1)[0] }

// fixed is an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) fixed(size int) uint64 {
	var wide [8]byte
	copy(wide[:], c.take(size))
	return binary.LittleEndian.Uint64(wide[:])
}

// signed is a signed number of 1, 2, 4 or 8 bytes.
func (c *cursor) signed(size int) int64 {
	shift := 64 - 8*size
	return int64(c.fixed(size)<<shift) >> shift
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		b := c.u8()
		v |= uint64(b&0x7f) << min(shift, 63)
		if b&0x80 == 0 {
			return v
		}
	}
	c.bad = true
	return 0
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := 0; shift < 70; shift += 7 {
		b := c.u8()
		v |= int64(b&0x7f) << min(shift, 63)
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.bad = true
	return 0
}

// block is a length and as many bytes.
func (c *cursor) block() []byte { return c.take(int(min(c.uleb(), 1<<20))) }

// Encodings of pointers (LSB 5.0 core, 10.5.1).
const (
	encOmit                              = 0xff
	encPCRelative, encTableRelative      = 0x10, 0x30
	encIndirect                          = 0x80
	formatMask, applicationMask          = 0x0f, 0x70
	formatAbsolute, formatULEB           = 0, 1
	formatU2, formatU4, formatU8         = 2, 3, 4
	formatSLEB                           = 9
	formatS2, formatS4, formatS8         = 10, 11, 12
	encTableOfFourBytes             byte = encTableRelative | formatS4
)

// pointer reads an encoded pointer; table is what table-relative ones count from. Indirect ones are not followed: they
// are personality routines only.
func (c *cursor) pointer(enc byte, table uint64) uint64 {
	from := c.addr + uint64(c.at)
	var v uint64
	switch enc & formatMask {
	case formatAbsolute, formatU8, formatS8:
		v = c.fixed(8)
	case formatULEB:
		v = c.uleb()
	case formatU2:
		v = c.fixed(2)
	case formatU4:
		v = c.fixed(4)
	case formatSLEB:
		v = uint64(c.sleb())
	case formatS2:
		v = uint64(c.signed(2))
	case formatS4:
		v = uint64(c.signed(4))
	default:
		c.bad = true
	}
	switch enc & applicationMask {
	case 0:
	case encPCRelative:
		v += from
	case encTableRelative:
		v += table
	default:
		c.bad = true
	}
	return v
}
