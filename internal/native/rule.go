package native

// How a register of the caller is found (DWARF 5, 6.4.1).
const (
	ruleSame = iota
	ruleUndefined
	ruleOffset    // in memory, at an offset from the CFA
	ruleValue     // an offset from the CFA itself
	ruleRegister  // in another register
	ruleExpr      // in memory, where an expression says
	ruleValueExpr // what an expression gives
)

// Caps of a function's call frame program.
const (
	maxSteps    = 1 << 14
	maxRemember = 32
)

// saved is the rule of one register.
type saved struct {
	kind   uint8
	offset int64  // or the other register
	expr   []byte // of the expressions
}

// rule says how to get from one place of the code to its caller.
type rule struct {
	cfa    saved // kind ruleValue: register in reg, plus offset; or ruleValueExpr
	reg    int
	saved  map[int]saved
	signal bool // the place is a signal handler's return: the caller was interrupted, it did not call
	ra     int  // the register that stands for the return address
	// from and to bound the function, or the part of one that was put elsewhere, as its unwind entry has it.
	from, to uint64
}

// entry is a common information entry: what the programs of several functions share.
type entry struct {
	codeAlign   uint64
	dataAlign   int64
	ra          int
	pointers    byte // their encoding in its functions
	augmented   bool
	signal      bool
	initial     []byte
	initialAddr uint64
}

// parseEntry reads a common information entry, without its length and id.
func parseEntry(c *cursor) (entry, bool) {
	var e entry
	version := c.u8()
	var augmentation []byte
	for c.more() {
		b := c.u8()
		if b == 0 {
			break
		}
		augmentation = append(augmentation, b)
	}
	if version != 1 && version != 3 {
		return e, false
	}
	e.codeAlign, e.dataAlign = c.uleb(), c.sleb()
	if e.ra = int(c.u8()); version == 3 {
		c.at--
		e.ra = int(c.uleb() & 0xff)
	}
	if len(augmentation) > 0 && augmentation[0] != 'z' {
		return e, false // of a compiler before 2001
	}
	if e.augmented = len(augmentation) > 0; e.augmented {
		size := c.uleb()
		end := c.at + int(min(size, uint64(len(c.b))))
		for _, a := range augmentation[1:] {
			switch a {
			case 'R':
				e.pointers = c.u8()
			case 'P':
				c.pointer(c.u8()&^encIndirect, 0)
			case 'L':
				c.u8()
			case 'S':
				e.signal = true
			}
		}
		if end > len(c.b) {
			return e, false
		}
		c.at = end
	}
	e.initial, e.initialAddr = c.b[min(c.at, len(c.b)):], c.addr+uint64(c.at)
	return e, !c.bad && e.ra < maxRegisters
}

// program runs call frame instructions up to one place of the code.
type program struct {
	e       *entry
	now     rule
	initial map[int]saved
	kept    []rule
	at, to  uint64
	steps   int
}

// ruleFor runs the entry's and the function's instructions; from is where the function begins.
func ruleFor(e *entry, code *cursor, from, to uint64) (*rule, bool) {
	p := &program{e: e, now: rule{saved: map[int]saved{}, ra: e.ra, signal: e.signal}, at: from, to: to}
	first := &cursor{b: e.initial, addr: e.initialAddr}
	p.run(first)
	p.initial = copySaved(p.now.saved)
	p.run(code)
	if first.bad || code.bad || p.steps > maxSteps {
		return nil, false
	}
	return &p.now, true
}

func copySaved(m map[int]saved) map[int]saved {
	out := make(map[int]saved, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (p *program) run(c *cursor) {
	for c.more() && p.at <= p.to {
		if p.steps++; p.steps > maxSteps {
			return
		}
		op := c.u8()
		switch low := int(op & 0x3f); op >> 6 {
		case 1: // advance_loc
			p.at += uint64(low) * p.e.codeAlign
		case 2: // offset
			p.set(low, saved{kind: ruleOffset, offset: int64(c.uleb()) * p.e.dataAlign})
		case 3: // restore
			p.restore(low)
		default:
			p.extended(c, op)
		}
	}
}

func (p *program) set(reg int, s saved) {
	if reg >= 0 && reg < maxRegisters {
		p.now.saved[reg] = s
	}
}

func (p *program) restore(reg int) {
	if s, ok := p.initial[reg]; ok {
		p.set(reg, s)
		return
	}
	delete(p.now.saved, reg)
}

// Instructions with their operands behind them (DWARF 5, table 7.29; GNU's own).
const (
	cfaNop, cfaSetLoc, cfaAdvance1, cfaAdvance2, cfaAdvance4         = 0x00, 0x01, 0x02, 0x03, 0x04
	cfaOffsetExtended, cfaRestoreExtended, cfaUndefined, cfaSame     = 0x05, 0x06, 0x07, 0x08
	cfaRegister, cfaRemember, cfaRestoreState                        = 0x09, 0x0a, 0x0b
	cfaDef, cfaDefRegister, cfaDefOffset, cfaDefExpr, cfaExpr        = 0x0c, 0x0d, 0x0e, 0x0f, 0x10
	cfaOffsetSigned, cfaDefSigned, cfaDefOffsetSigned, cfaValueOff   = 0x11, 0x12, 0x13, 0x14
	cfaValueOffSigned, cfaValueExpr, cfaSignState, cfaArgs, cfaMinus = 0x15, 0x16, 0x2d, 0x2e, 0x2f
)

func (p *program) extended(c *cursor, op byte) {
	reg := func() int { return int(min(c.uleb(), maxRegisters)) }
	data := p.e.dataAlign
	switch op {
	case cfaNop, cfaSignState: // the address bits are cut out of every return address anyway
	case cfaSetLoc:
		p.at = c.pointer(p.e.pointers, 0)
	case cfaAdvance1:
		p.at += c.fixed(1) * p.e.codeAlign
	case cfaAdvance2:
		p.at += c.fixed(2) * p.e.codeAlign
	case cfaAdvance4:
		p.at += c.fixed(4) * p.e.codeAlign
	case cfaOffsetExtended:
		p.set(reg(), saved{kind: ruleOffset, offset: int64(c.uleb()) * data})
	case cfaOffsetSigned:
		p.set(reg(), saved{kind: ruleOffset, offset: c.sleb() * data})
	case cfaMinus:
		p.set(reg(), saved{kind: ruleOffset, offset: -int64(c.uleb()) * data})
	case cfaValueOff:
		p.set(reg(), saved{kind: ruleValue, offset: int64(c.uleb()) * data})
	case cfaValueOffSigned:
		p.set(reg(), saved{kind: ruleValue, offset: c.sleb() * data})
	case cfaRestoreExtended:
		p.restore(reg())
	case cfaUndefined:
		p.set(reg(), saved{kind: ruleUndefined})
	case cfaSame:
		p.set(reg(), saved{kind: ruleSame})
	case cfaRegister:
		p.set(reg(), saved{kind: ruleRegister, offset: int64(reg())})
	case cfaExpr:
		p.set(reg(), saved{kind: ruleExpr, expr: c.block()})
	case cfaValueExpr:
		p.set(reg(), saved{kind: ruleValueExpr, expr: c.block()})
	case cfaArgs:
		c.uleb()
	case cfaRemember, cfaRestoreState:
		p.state(c, op)
	default:
		p.frame(c, op)
	}
}

// state keeps the rules and takes them back.
func (p *program) state(c *cursor, op byte) {
	switch {
	case op == cfaRemember && len(p.kept) < maxRemember:
		kept := p.now
		kept.saved = copySaved(kept.saved)
		p.kept = append(p.kept, kept)
	case op == cfaRestoreState && len(p.kept) > 0:
		p.now, p.kept = p.kept[len(p.kept)-1], p.kept[:len(p.kept)-1]
	default:
		c.bad = true
	}
}

// frame sets the rule of the canonical frame address.
func (p *program) frame(c *cursor, op byte) {
	n := &p.now
	switch op {
	case cfaDef:
		n.reg = int(min(c.uleb(), maxRegisters))
		n.cfa = saved{kind: ruleValue, offset: int64(c.uleb())}
	case cfaDefSigned:
		n.reg = int(min(c.uleb(), maxRegisters))
		n.cfa = saved{kind: ruleValue, offset: c.sleb() * p.e.dataAlign}
	case cfaDefRegister:
		n.reg = int(min(c.uleb(), maxRegisters))
		n.cfa.kind = ruleValue
	case cfaDefOffset:
		n.cfa.offset = int64(c.uleb())
	case cfaDefOffsetSigned:
		n.cfa.offset = c.sleb() * p.e.dataAlign
	case cfaDefExpr:
		n.cfa = saved{kind: ruleValueExpr, expr: c.block()}
	default:
		c.bad = true
	}
}
