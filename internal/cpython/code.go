package cpython

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"bottleneck/internal/proc"
)

// Code is a code object of the target: what is needed to name a frame. It does not change once made; an object that
// takes the address of a freed one becomes another Code.
type Code struct {
	ID       int // unique within a Reader, from 0
	Function string
	File     string
	First    int32
	lines    []lineRange
	addr     uint64
	start    uint64 // of the bytecode inside the object; 0 where it is elsewhere
	length   int32  // of the bytecode in bytes; 0 unknown
	frameLen uint64 // bytes that a frame takes on the data stack; 0 unknown
	shim     bool   // the interpreter's own trampoline
	dead     bool   // something else lies at its address now
	key      []byte
	checked  int64             // tick at which the key was last compared
	early    int64             // tick at which it was compared within the batch
	again    []byte            // the key as the batch reads it
	copies   map[uint32]uint64 // where the threads' own copies of the bytecode begin, by index
	copied   int64             // tick at which the first of them was read
}

// Line gives the running line of an instruction (offset in bytes), 0 where the table does not say.
func (c *Code) Line(offset int32) int32 { return lineAt(c.lines, max(offset, 0)) }

// maxCodes bounds the cache: a program that makes code without end must not fill the reader's memory.
const maxCodes = 1 << 16

// codes caches code objects by address.
type codes struct {
	mem     proc.Memory
	l       *Layout
	byAddr  map[uint64]*Code
	next    int
	objType uint64 // address of PyCode_Type, once seen
}

func newCodes(mem proc.Memory, l *Layout) *codes {
	return &codes{mem: mem, l: l, byAddr: map[uint64]*Code{}}
}

// load reads the code object at addr.
func (cs *codes) load(addr uint64) (*Code, error) {
	l := cs.l
	if addr == 0 || addr%8 != 0 {
		return nil, fmt.Errorf("code object at %#x: %w", addr, errGarbage)
	}
	raw := make([]byte, max(l.Code.Size, l.Object.VarSize+8, l.Object.Type+8))
	if err := cs.mem.Read(addr, raw); err != nil {
		return nil, err
	}
	if err := cs.checkType(word(raw, l.Object.Type)); err != nil {
		return nil, err
	}
	c := &Code{ID: cs.next, addr: addr, key: bytes.Clone(raw[l.Code.KeyFrom:l.Code.KeyTo])}
	var err error
	if c.File, err = readText(cs.mem, &l.Object, word(raw, l.Code.File)); err != nil {
		return nil, fmt.Errorf("file of code object at %#x: %w", addr, err)
	}
	name := l.Code.Name
	if l.Code.Qual != none {
		name = l.Code.Qual
	}
	if c.Function, err = readText(cs.mem, &l.Object, word(raw, name)); err != nil {
		return nil, fmt.Errorf("name of code object at %#x: %w", addr, err)
	}
	c.First = int32(binary.LittleEndian.Uint32(raw[l.Code.First:]))
	if c.First < 0 {
		return nil, fmt.Errorf("code object at %#x begins at line %d: %w", addr, c.First, errGarbage)
	}
	table, err := readBytes(cs.mem, &l.Object, word(raw, l.Code.Table), maxTable)
	if err != nil {
		return nil, fmt.Errorf("line table of code object at %#x: %w", addr, err)
	}
	c.lines = decodeLines(l.Code.Lines, table, c.First)
	c.shim = isShim(c)
	cs.measure(c, raw)
	cs.keep(c)
	return c, nil
}

// isShim recognises the interpreter's own code objects: those between C and Python, and the one that ends an inlined
// call of a class. They have no file.
func isShim(c *Code) bool {
	return strings.HasPrefix(c.File, "<shim") || strings.HasPrefix(c.Function, "<interpreter trampoline") ||
		c.Function == "<shim>" || c.File == c.Function && c.First <= 1
}

// measure notes where the bytecode lies and how long a frame of it is.
func (cs *codes) measure(c *Code, raw []byte) {
	l := cs.l
	if l.Frame.Heap {
		return
	}
	c.start = c.addr + uint64(l.Code.Bytecode)
	if n := word(raw, l.Object.VarSize); n < maxTable {
		c.length = int32(2 * n)
	}
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(raw[at:])) }
	switch {
	case l.Code.FrameWords != none:
		c.frameLen = 8 * u32(l.Code.FrameWords)
	case l.Code.NLocalsPlus != none && l.Code.StackSize != none:
		c.frameLen = 8*(u32(l.Code.NLocalsPlus)+u32(l.Code.StackSize)) + uint64(l.Frame.Locals)
	}
}

// checkType learns the address of PyCode_Type by its name, and refuses objects of any other type.
func (cs *codes) checkType(typ uint64) error {
	if typ == cs.objType && typ != 0 {
		return nil
	}
	if cs.objType != 0 {
		return fmt.Errorf("object of type %#x is no code object: %w", typ, errGarbage)
	}
	name, err := typeName(cs.mem, &cs.l.Object, typ)
	if err != nil || name != "code" {
		return fmt.Errorf("object of type %q is no code object: %w", name, errGarbage)
	}
	cs.objType = typ
	return nil
}

func (cs *codes) keep(c *Code) {
	if len(cs.byAddr) >= maxCodes {
		clear(cs.byAddr)
	}
	cs.byAddr[c.addr] = c
	cs.next++
}

func word(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
