package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrUnreadable says that an address range is not mapped (or, recorded, was never read).
var ErrUnreadable = errors.New("memory is not readable")

// ErrGone says that the process ended.
var ErrGone = errors.New("process ended")

// ErrNotPermitted says that the kernel refuses to read the process.
var ErrNotPermitted = errors.New("reading the process is not permitted")

// Range is one piece of another process's memory and where to put it.
type Range struct {
	Addr uint64
	Buf  []byte
}

// Memory is the memory of a process, live or recorded. Both methods are all or nothing per range.
type Memory interface {
	// Read fills buf from addr.
	Read(addr uint64, buf []byte) error
	// ReadMany fills the ranges in order, in as few system calls as possible, and returns how many leading
	// ranges are complete; fewer than all is not an error by itself.
	ReadMany(ranges []Range) (int, error)
}

// U64 reads one little-endian word.
func U64(m Memory, addr uint64) (uint64, error) {
	var b [8]byte
	if err := m.Read(addr, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// U32 reads one little-endian 32-bit word.
func U32(m Memory, addr uint64) (uint32, error) {
	var b [4]byte
	if err := m.Read(addr, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// CString reads a NUL-terminated string of at most limit bytes; a longer one is cut.
func CString(m Memory, addr uint64, limit int) (string, error) {
	var out []byte
	var piece [64]byte
	for len(out) < limit {
		// A piece never crosses a 64-byte line, so that it never crosses a page into unmapped memory.
		n := 64 - int(addr%64)
		if err := m.Read(addr, piece[:n]); err != nil {
			return "", fmt.Errorf("string at %#x: %w", addr, err)
		}
		for i, c := range piece[:n] {
			if c == 0 {
				return string(append(out, piece[:i]...)), nil
			}
		}
		out = append(out, piece[:n]...)
		addr += uint64(n)
	}
	return string(out[:limit]), nil
}
