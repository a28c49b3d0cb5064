package native

import (
	"encoding/binary"
	"runtime"
	"slices"

	"bottleneck/internal/proc"
)

// maxLocals is how far above the stack pointer the end of a function's part of the stack is looked for.
const maxLocals = 16 << 10

// findFrame finds a function's part of the stack where its frame pointer is not known, as in a system call: the kernel
// tells the stack pointer only. The function's first instructions say how large its part is, or else its return address
// is the word that lies behind a call of this very function. Both are checked against the code that called; where
// neither holds, nothing is taken for it.
func (u *Unwinder) findFrame(r *rule, regs *Registers, mem proc.Memory) (End, bool) {
	if runtime.GOARCH != "amd64" || r.saved[r.ra].kind != ruleOffset {
		return EndRegister, false
	}
	cfa, ok := u.frameByPrologue(r, regs.SP(), mem)
	if !ok {
		cfa, ok = u.frameByCall(r, regs.SP(), mem)
	}
	if fp := cfa - uint64(r.cfa.offset); ok && fp >= regs.SP() {
		regs.Set(here.fp, fp)
		return r.caller(regs, mem)
	}
	return EndRegister, false
}

// prologueBytes is how far into a function its first "sub $size, %rsp" is looked for.
const prologueBytes = 160

// frameByPrologue adds up what a function has pushed, as its unwind entry has it, and what it has subtracted from the
// stack pointer, as its code has it.
func (u *Unwinder) frameByPrologue(r *rule, sp uint64, mem proc.Memory) (cfa uint64, ok bool) {
	code := make([]byte, min(prologueBytes, r.to-r.from))
	if u.mem.Read(r.from, code) != nil {
		return 0, false
	}
	try := func(before *rule, size int64) bool {
		cfa = sp + uint64(before.pushed()+size)
		pc, err := proc.U64(mem, cfa+uint64(r.saved[r.ra].offset))
		return err == nil && size >= 0 && u.mayCall(pc, r.from)
	}
	for i := 0; i+7 <= len(code); i++ {
		if code[i] != 0x48 || code[i+1] != 0x83 && code[i+1] != 0x81 || code[i+2] != 0xec {
			continue
		}
		size := int64(int8(code[i+3]))
		if code[i+1] == 0x81 {
			size = int64(int32(binary.LittleEndian.Uint32(code[i+3:])))
		}
		if before, err := u.rule(r.from + uint64(i)); err == nil && try(before, size) {
			return cfa, true
		}
	}
	return cfa, try(r, 0)
}

// pushed is how far below the frame address registers have been saved, the return address among them.
func (u *rule) pushed() int64 {
	n := int64(0)
	for _, s := range u.saved {
		if s.kind == ruleOffset {
			n = max(n, -s.offset)
		}
	}
	return n
}

// mayCall says whether a return address lies behind a call that can be one of a function: a direct call of it, or a call
// through a register or memory, whose target is not in the code.
func (u *Unwinder) mayCall(ret, function uint64) bool {
	m, ok := u.maps.Find(ret)
	var b [7]byte
	if !ok || !m.Exec || u.mem.Read(ret-7, b[:]) != nil {
		return false
	}
	if u.calls(ret, function) {
		return true
	}
	indirect := func(at int, modes ...byte) bool { // "call *operand" is 0xff with 2 in the middle of the next byte
		return b[at] == 0xff && b[at+1]&0x38 == 0x10 && slices.Contains(modes, b[at+1]>>6)
	}
	rip := b[1] == 0xff && b[2] == 0x15
	sib := b[4] == 0xff && b[5] == 0x14 || b[3] == 0xff && b[4] == 0x54 || b[0] == 0xff && b[1] == 0x94
	return indirect(5, 0, 3) || indirect(4, 1) || indirect(1, 2) || rip || sib
}

// frameByCall looks for the return address by what called.
func (u *Unwinder) frameByCall(r *rule, sp uint64, mem proc.Memory) (cfa uint64, ok bool) {
	var b [512]byte
	for at := sp &^ 7; at < sp+maxLocals; at += uint64(len(b)) {
		if mem.Read(at, b[:]) != nil {
			return 0, false
		}
		for i := 0; i < len(b); i += 8 {
			pc := binary.LittleEndian.Uint64(b[i:])
			if m, ok := u.maps.Find(pc); ok && m.Exec && u.calls(pc, r.from) {
				return at + uint64(i) - uint64(r.saved[r.ra].offset), true
			}
		}
	}
	return 0, false
}

// calls says whether the instruction before a return address is a direct call of a function, or of the linker's stub
// that jumps to it.
func (u *Unwinder) calls(ret, function uint64) bool {
	var b [5]byte
	if u.mem.Read(ret-5, b[:]) != nil || b[0] != 0xe8 {
		return false
	}
	target := ret + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:]))))
	return target == function || u.stub(target) == function
}

// stub is where a stub of the procedure linkage table jumps to: "endbr64" may come first, then "jmp *slot(%rip)", which
// may have a prefix. 0 for other code.
func (u *Unwinder) stub(at uint64) uint64 {
	var b [16]byte
	if u.mem.Read(at, b[:]) != nil {
		return 0
	}
	i := 0
	if b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa {
		i = 4
	}
	if b[i] == 0xf2 {
		i++
	}
	if b[i] != 0xff || b[i+1] != 0x25 {
		return 0
	}
	slot := at + uint64(i) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+2:]))))
	to, err := proc.U64(u.mem, slot)
	if err != nil {
		return 0
	}
	return to
}

// maxCode bounds the code of one function that is looked through.
const maxCode = 1 << 20

// Jumps are the places outside of a function that its code jumps to, as compilers lay out parts that are rarely run.
// Code is not taken apart but looked through for jumps, so a place may be wrong; that one lies within a given function
// by chance is next to impossible.
func (u *Unwinder) Jumps(from, to uint64) []uint64 {
	if runtime.GOARCH != "amd64" || to-from > maxCode || to < from {
		return nil
	}
	code := make([]byte, to-from)
	if u.mem.Read(from, code) != nil {
		return nil
	}
	var out []uint64
	for i := 0; i+6 <= len(code); i++ {
		at := i + 1
		switch {
		case code[i] == 0xe9: // jmp
		case code[i] == 0x0f && code[i+1]&0xf0 == 0x80: // jcc
			at++
		default:
			continue
		}
		target := from + uint64(at) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(code[at:]))))
		if target < from || target >= to {
			out = append(out, target)
		}
	}
	return out
}
