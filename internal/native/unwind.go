package native

import (
	"errors"
	"path"
	"strings"

	"bottleneck/internal/proc"
)

// Caps of an unwinder.
const (
	maxFrames = 512
	maxRules  = 1 << 16 // kept by place
	maxImages = 2048
	maxFrame  = 64 << 20 // bytes of one function's part of the stack
)

// End says why a stack ends where it does.
type End uint8

// Ends of a stack. Only one that is EndStart is whole.
const (
	EndStart    End = iota // where the thread began
	EndNoTable             // no unwind table and no frame pointer for the last place
	EndRegister            // the table needs a register whose value is not known
	EndMemory              // memory could not be read, or holds no such stack
	EndDeep                // more frames than are followed
)

var endTexts = [...]string{EndStart: "", EndNoTable: "no unwind table", EndRegister: "a register is not known",
	EndMemory: "the stack could not be read", EndDeep: "too deep"}

// String says it in words, "" for a whole stack.
func (e End) String() string { return endTexts[min(int(e), len(endTexts)-1)] }

// Place is where one function of a stack stands.
type Place struct {
	PC     uint64
	Called bool // PC is where a call returns to; else the very instruction
}

// lookup is an address within the instruction that is being executed.
func (p Place) lookup() uint64 {
	if p.Called {
		return p.PC - 1
	}
	return p.PC
}

// Unwinder follows the C stacks of one process. It is used by one goroutine.
type Unwinder struct {
	mem    proc.Memory
	maps   proc.Maps
	remap  func() (proc.Maps, error)
	open   func(proc.Mapping) (*Symbols, error)
	stale  bool              // a place was met that no mapping holds
	images map[uint64]*image // by address of the ELF header; nil: none
	rules  map[uint64]*rule  // by place; nil: none
	names  map[uint64]Frame
	places []Place
}

// NewUnwinder prepares for one process. remap reads its mappings; open finds the symbols of the file behind one.
func NewUnwinder(mem proc.Memory, remap func() (proc.Maps, error), open func(proc.Mapping) (*Symbols, error)) (*Unwinder, error) {
	if !supported {
		return nil, errors.New("native stacks: this processor's calls are not known")
	}
	u := &Unwinder{mem: mem, remap: remap, open: open}
	return u, u.Refresh()
}

// Refresh reads the mappings again and forgets what was learned of those that changed. It is called where libraries may
// have come or gone, at most about once a second: Stale says that it is worth it.
func (u *Unwinder) Refresh() error {
	maps, err := u.remap()
	if err != nil {
		return err
	}
	u.maps, u.stale = maps, false
	u.images, u.rules, u.names = u.keptImages(), map[uint64]*rule{}, map[uint64]Frame{}
	return nil
}

// keptImages are the images that are still mapped where they were.
func (u *Unwinder) keptImages() map[uint64]*image {
	kept := map[uint64]*image{}
	for at, im := range u.images {
		if m, ok := u.maps.Find(at); ok && im != nil && m.Start == at && m.Path == im.path && m.Inode == im.first.Inode {
			kept[at] = im
		}
	}
	return kept
}

// Stale says that a stack led to a place that was not mapped when the mappings were read last.
func (u *Unwinder) Stale() bool { return u.stale }

// Stack follows a thread's stack from its registers, innermost first. stack is where its memory is read: a copy of its
// upper part, or the process. The places are valid until the next call.
func (u *Unwinder) Stack(r Registers, stack proc.Memory) ([]Place, End) {
	u.places = u.places[:0]
	called := false
	for len(u.places) < maxFrames {
		p := Place{r.PC, called}
		u.places = append(u.places, p)
		rule, err := u.rule(p.lookup())
		if err != nil && !errors.Is(err, errNoTable) {
			return u.places, EndMemory
		}
		before := r.SP()
		end, more := EndStart, false
		switch {
		case rule != nil:
			end, more = rule.caller(&r, stack)
			called = rule == nil || !rule.signal
			if end == EndRegister && rule.cfa.kind == ruleValue && rule.reg == here.fp {
				end, more = u.findFrame(rule, &r, stack)
			}
		default:
			end, more = u.framePointer(&r, stack)
			called = true
		}
		if !more {
			return u.places, end
		}
		if r.PC == 0 {
			return u.places, EndStart
		}
		if sp := r.SP(); (sp <= before || sp-before > maxFrame) && called {
			return u.places, EndMemory
		}
	}
	return u.places, EndDeep
}

// caller turns the registers of a function into those of its caller.
func (u *rule) caller(r *Registers, mem proc.Memory) (End, bool) {
	ra, has := u.saved[u.ra]
	if has && ra.kind == ruleUndefined {
		return EndStart, false
	}
	if !here.link {
		r.Set(here.ra, r.PC) // expressions may ask for it
	}
	cfa, ok := u.base(r, mem)
	if !ok {
		return EndRegister, false
	}
	next := Registers{}
	for i := range maxRegisters {
		bit := uint64(1) << i
		if s, ok := u.saved[i]; ok {
			if v, ok := s.of(i, cfa, r, mem); ok {
				next.Set(i, v)
			}
		} else if r.known&bit != 0 && (here.kept&bit != 0 || u.signal && i != here.ra || here.link && i == u.ra) {
			next.Set(i, r.value[i])
		}
	}
	if _, own := u.saved[here.sp]; !own {
		next.Set(here.sp, cfa)
	}
	pc, ok := next.get(u.ra)
	if !ok {
		if has {
			return EndMemory, false
		}
		return EndRegister, false
	}
	if !u.signal {
		next.known &^= 1 << here.ra // what a call leaves there is spent
	}
	next.PC = pc & here.address
	*r = next
	return EndStart, true
}

// base is the canonical frame address.
func (u *rule) base(r *Registers, mem proc.Memory) (uint64, bool) {
	if u.cfa.kind == ruleValueExpr {
		return evaluate(u.cfa.expr, r, mem)
	}
	v, ok := r.get(u.reg)
	return v + uint64(u.cfa.offset), ok && u.cfa.kind == ruleValue
}

// of is what a saved register held.
func (s saved) of(number int, cfa uint64, r *Registers, mem proc.Memory) (uint64, bool) {
	at := cfa + uint64(s.offset)
	switch s.kind {
	case ruleSame:
		return r.get(number)
	case ruleValue:
		return at, true
	case ruleRegister:
		return r.get(int(s.offset))
	case ruleValueExpr:
		return evaluate(s.expr, r, mem, cfa)
	case ruleExpr:
		var ok bool
		if at, ok = evaluate(s.expr, r, mem, cfa); !ok {
			return 0, false
		}
	case ruleUndefined:
		return 0, false
	}
	v, err := proc.U64(mem, at)
	return v, err == nil
}

// framePointer goes to the caller by the frame pointer: it must lie on the stack, above the stack pointer, and what lies
// over it must be an address of code. Both machines keep the caller's pointer and the return address side by side.
func (u *Unwinder) framePointer(r *Registers, mem proc.Memory) (End, bool) {
	fp, ok := r.get(here.fp)
	if !ok || fp < r.SP() || fp-r.SP() > 1<<20 || fp%8 != 0 {
		return EndNoTable, false
	}
	back, err1 := proc.U64(mem, fp)
	pc, err2 := proc.U64(mem, fp+8)
	m, mapped := u.maps.Find(pc & here.address)
	if err1 != nil || err2 != nil || !mapped || !m.Exec {
		return EndNoTable, false
	}
	next := At(fp+16, pc&here.address)
	next.Set(here.fp, back)
	*r = next
	return EndStart, true
}

// Function bounds the function of a place, or the part of one that the compiler put elsewhere.
func (u *Unwinder) Function(p Place) (from, to uint64, ok bool) {
	r, err := u.rule(p.lookup())
	if err != nil {
		return 0, 0, false
	}
	return r.from, r.to, true
}

// rule finds the rule of a place.
func (u *Unwinder) rule(pc uint64) (*rule, error) {
	if r, known := u.rules[pc]; known {
		if r == nil {
			return nil, errNoTable
		}
		return r, nil
	}
	if len(u.rules) >= maxRules {
		clear(u.rules)
	}
	im := u.image(pc)
	if im == nil || im.rowCount == 0 {
		u.rules[pc] = nil
		return nil, errNoTable
	}
	r, err := im.ruleAt(u.mem, pc)
	if err == nil || errors.Is(err, errNoTable) {
		u.rules[pc] = r
	}
	return r, err
}

// image finds what is mapped at a place: the mapping of the same file, below, that holds its ELF header.
func (u *Unwinder) image(pc uint64) *image {
	m, ok := u.maps.Find(pc)
	if !ok || !m.Exec {
		u.stale = u.stale || !ok
		return nil
	}
	if m.Path == "" || strings.HasPrefix(m.Path, "[") && m.Path != "[vdso]" {
		return nil
	}
	base, ok := u.maps.FirstOf(m)
	if !ok {
		return nil
	}
	im, known := u.images[base.Start]
	if !known && len(u.images) < maxImages {
		im, _ = openImage(u.mem, base) // one that is no ELF file has no table
		u.images[base.Start] = im
	}
	return im
}

// Frame is a place with names.
type Frame struct {
	Function string // without parameters; "" where no symbol covers the place
	Symbol   string // as the linker knows it
	Library  string // path of the file, "" for memory that is none (code made at run time)
	Unmapped bool   // nothing was mapped there when the mappings were read last
	Offset   uint64 // of the place in the file's own addresses
	Start    uint64 // of the function, likewise, where the file's table for unwinding tells; 0 unknown
}

// Name is the function, or the library and where the function begins in it (the place, where the beginning is not known), so
// that places in one function have one name. What runs where nothing was mapped came with a library since then.
func (f Frame) Name() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Library != "" && f.Start != 0:
		return path.Base(f.Library) + "+0x" + hex(f.Start)
	case f.Library != "":
		return path.Base(f.Library) + "+0x" + hex(f.Offset)
	case f.Unmapped:
		return "library loaded lately"
	}
	return "code made at run time"
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	at := len(b)
	for {
		at--
		b[at] = digits[v&15]
		if v >>= 4; v == 0 {
			return string(b[at:])
		}
	}
}

// Frame names a place.
func (u *Unwinder) Frame(p Place) Frame {
	pc := p.lookup()
	if f, known := u.names[pc]; known {
		return f
	}
	if len(u.names) >= maxRules {
		clear(u.names)
	}
	f := u.describe(pc)
	u.names[pc] = f
	return f
}

func (u *Unwinder) describe(pc uint64) Frame {
	m, ok := u.maps.Find(pc)
	if !ok {
		return Frame{Unmapped: true}
	}
	f := Frame{}
	if strings.HasPrefix(m.Path, "/") || m.Path == "[vdso]" {
		f.Library = m.Path
	}
	im := u.image(pc)
	if im == nil {
		return f
	}
	f.Offset = pc - im.bias
	if !im.asked && m.Path != "[vdso]" {
		im.asked = true
		im.symbols, _ = u.open(m) // a file that cannot be read gives no names
	}
	if im.symbols != nil {
		f.Symbol = im.symbols.Find(f.Offset)
		f.Function = Readable(f.Symbol)
	}
	if r, err := u.rule(pc); err == nil && r.from >= im.bias {
		f.Start = r.from - im.bias
	}
	return f
}
