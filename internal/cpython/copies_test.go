package cpython

import (
	"encoding/binary"
	"testing"

	"bottleneck/internal/proc"
)

// words is a memory of 64-bit words by address.
type words map[uint64]uint64

// Read implements proc.Memory.
func (w words) Read(addr uint64, buf []byte) error {
	for i := 0; i+8 <= len(buf); i += 8 {
		v, ok := w[addr+uint64(i)]
		if !ok {
			return proc.ErrUnreadable
		}
		binary.LittleEndian.PutUint64(buf[i:], v)
	}
	return nil
}

// ReadMany implements proc.Memory.
func (w words) ReadMany(ranges []proc.Range) (int, error) {
	for i, g := range ranges {
		if w.Read(g.Addr, g.Buf) != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}

// TestOwnBytecode places instructions in the threads' own copies of a function's bytecode, as 3.14t keeps them: offsets as
// its headers have them.
func TestOwnBytecode(t *testing.T) {
	const code, array, moved, own = 0x10000, 0x20000, 0x30000, 0x40000
	l := &Layout{FreeThreaded: true, Frame: FrameLayout{Instr: 56, CopyIndex: 72}, Code: CodeLayout{Bytecode: 232, Copies: 224}}
	mem := words{code + 224: array, array: 3, array + 8: code + 232, array + 16: 0, array + 24: own}
	r := &Reader{l: l, mem: mem, every: 10, tick: 100}
	c := &Code{addr: code, start: code + 232, length: 40}
	place := func(instr uint64, index uint32) (int32, bool) {
		frame := make([]byte, 88)
		binary.LittleEndian.PutUint64(frame[56:], instr)
		binary.LittleEndian.PutUint32(frame[72:], index)
		return r.offset(c, frame)
	}
	for _, k := range []struct {
		what  string
		instr uint64
		index uint32
		want  int32
		ok    bool
	}{
		{"the code object's own", code + 232 + 6, 0, 6, true},
		{"before the first", code + 230, 0, -2, true},
		{"a thread's copy", own + 12, 2, 12, true},
		{"a copy's end", own + 40, 2, 40, true},
		{"behind a copy", own + 42, 2, 42, false},
		{"a copy that is not made", own, 1, 0, false},
		{"no such copy", own, 3, 0, false},
		{"garbage for an index", own, 1 << 31, 0, false},
	} {
		if got, ok := place(k.instr, k.index); ok != k.ok || ok && got != k.want {
			t.Errorf("%s: %d, %v; want %d, %v", k.what, got, ok, k.want, k.ok)
		}
	}
	mem[array+24] = moved // freed with its thread, made again for another one
	if got, ok := place(moved+4, 2); !ok || got != 4 {
		t.Errorf("a copy that was made again: %d, %v", got, ok)
	}
	mem[code+224], mem[moved+0x100], mem[moved+0x118] = moved+0x100, 1<<40, own // the list has grown
	r.tick += r.every
	if got, ok := place(own+8, 2); !ok || got != 8 {
		t.Errorf("in the new list: %d, %v", got, ok)
	}
	delete(mem, code+224)
	r.tick += r.every
	if _, ok := place(own+8, 2); ok {
		t.Error("found in a list that cannot be read")
	}
}
