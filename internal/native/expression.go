package native

import "bottleneck/internal/proc"

// Caps of a DWARF expression.
const (
	maxOperations = 256
	maxOperands   = 64
)

// Operations of expressions (DWARF 5, table 7.9), those that compilers and C libraries write into call frame
// information.
const (
	opDeref, opConst1, opConst8, opConstU, opConstS            = 0x06, 0x08, 0x0f, 0x10, 0x11
	opDup, opDrop, opOver, opSwap                              = 0x12, 0x13, 0x14, 0x16
	opAnd, opMinus, opMul, opNeg, opNot, opOr, opPlus          = 0x1a, 0x1c, 0x1e, 0x1f, 0x20, 0x21, 0x22
	opPlusConst, opShiftLeft, opShiftRight, opShiftSigned      = 0x23, 0x24, 0x25, 0x26
	opXor, opBranch, opEqual, opGreaterEqual, opGreater        = 0x27, 0x28, 0x29, 0x2a, 0x2b
	opLessEqual, opLess, opNotEqual, opSkip                    = 0x2c, 0x2d, 0x2e, 0x2f
	opLiteral, opLiteralEnd, opRegister, opRegisterEnd         = 0x30, 0x4f, 0x70, 0x8f
	opRegisterX, opNop                                    byte = 0x92, 0x96
)

// evaluation is an expression that is being worked out.
type evaluation struct {
	c     *cursor
	regs  *Registers
	mem   proc.Memory
	stack []uint64
	bad   bool
}

// evaluate works an expression out; where it has a beginning value, that is pushed first.
func evaluate(expr []byte, regs *Registers, mem proc.Memory, first ...uint64) (uint64, bool) {
	e := &evaluation{c: &cursor{b: expr}, regs: regs, mem: mem, stack: append(make([]uint64, 0, 8), first...)}
	for n := 0; e.c.more() && !e.bad; n++ {
		if n == maxOperations || len(e.stack) > maxOperands {
			return 0, false
		}
		e.step(e.c.u8())
	}
	if e.bad || e.c.bad || len(e.stack) == 0 {
		return 0, false
	}
	return e.stack[len(e.stack)-1], true
}

func (e *evaluation) push(v uint64) { e.stack = append(e.stack, v) }

func (e *evaluation) pop() uint64 {
	if len(e.stack) == 0 {
		e.bad = true
		return 0
	}
	v := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	return v
}

func (e *evaluation) register(number int, offset int64) {
	v, ok := e.regs.get(number)
	e.bad = e.bad || !ok
	e.push(v + uint64(offset))
}

func (e *evaluation) step(op byte) {
	switch {
	case op >= opLiteral && op <= opLiteralEnd:
		e.push(uint64(op - opLiteral))
	case op >= opRegister && op <= opRegisterEnd:
		e.register(int(op-opRegister), e.c.sleb())
	case op >= opConst1 && op <= opConst8:
		e.constant(op - opConst1)
	case op >= opDup && op <= opSwap:
		e.shuffle(op)
	case op == opBranch || op == opSkip:
		e.jump(op)
	case op >= opAnd && op <= opNotEqual:
		e.arithmetic(op)
	default:
		e.other(op)
	}
}

// constant reads one of 1, 2, 4 or 8 bytes, unsigned where its kind is even.
func (e *evaluation) constant(kind byte) {
	size := 1 << (kind / 2)
	if kind%2 == 0 {
		e.push(e.c.fixed(size))
		return
	}
	e.push(uint64(e.c.signed(size)))
}

func (e *evaluation) other(op byte) {
	switch op {
	case opDeref:
		v, err := proc.U64(e.mem, e.pop())
		e.bad = e.bad || err != nil
		e.push(v)
	case opConstU:
		e.push(e.c.uleb())
	case opConstS:
		e.push(uint64(e.c.sleb()))
	case opRegisterX:
		n := int(min(e.c.uleb(), maxRegisters))
		e.register(n, e.c.sleb())
	case opNop:
	default:
		e.bad = true
	}
}

func (e *evaluation) shuffle(op byte) {
	switch top := e.pop(); op {
	case opDup:
		e.push(top)
		e.push(top)
	case opDrop:
	case opOver:
		below := e.pop()
		e.push(below)
		e.push(top)
		e.push(below)
	case opSwap:
		below := e.pop()
		e.push(top)
		e.push(below)
	default:
		e.bad = true
	}
}

// jump moves on by a signed distance; maxOperations ends what would not end.
func (e *evaluation) jump(op byte) {
	by := int(e.c.signed(2))
	if op == opBranch && e.pop() == 0 {
		return
	}
	to := e.c.at + by
	if e.bad = e.bad || to < 0 || to > len(e.c.b); !e.bad {
		e.c.at = to
	}
}

func (e *evaluation) arithmetic(op byte) {
	b := e.pop()
	switch op {
	case opPlusConst:
		e.push(b + e.c.uleb())
		return
	case opNeg:
		e.push(-b)
		return
	case opNot:
		e.push(^b)
		return
	}
	a := e.pop()
	switch op {
	case opAnd:
		e.push(a & b)
	case opMinus:
		e.push(a - b)
	case opMul:
		e.push(a * b)
	case opOr:
		e.push(a | b)
	case opPlus:
		e.push(a + b)
	case opXor:
		e.push(a ^ b)
	case opShiftLeft:
		e.push(a << b)
	case opShiftRight:
		e.push(a >> b)
	case opShiftSigned:
		e.push(uint64(int64(a) >> b))
	default:
		e.compare(op, int64(a), int64(b))
	}
}

func (e *evaluation) compare(op byte, a, b int64) {
	var yes bool
	switch op {
	case opEqual:
		yes = a == b
	case opGreaterEqual:
		yes = a >= b
	case opGreater:
		yes = a > b
	case opLessEqual:
		yes = a <= b
	case opLess:
		yes = a < b
	case opNotEqual:
		yes = a != b
	default:
		e.bad = true
	}
	var v uint64
	if yes {
		v = 1
	}
	e.push(v)
}
