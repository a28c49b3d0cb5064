package native

import (
	"runtime"

	"bottleneck/internal/proc"
)

// maxRegisters is how many registers are followed: those of DWARF's numbering that a call keeps lie below it on both
// machines, with the return address' column.
const maxRegisters = 33

// machine is what differs between processors, in DWARF's numbering (x86-64: System V ABI, figure 3.36; arm64: DWARF for
// the Arm 64-bit architecture, section 4.1).
type machine struct {
	sp, fp, ra int
	link       bool   // the return address' column is a register that a call sets; else it stands for the instruction pointer
	kept       uint64 // set of registers that a called function must leave as they are
	address    uint64 // bits of a return address that are the address: arm64 signs the others
}

var machines = map[string]machine{
	"amd64": {sp: 7, fp: 6, ra: 16, kept: 1<<3 | 1<<6 | 1<<12 | 1<<13 | 1<<14 | 1<<15, address: 1<<64 - 1},
	"arm64": {sp: 31, fp: 29, ra: 30, link: true, kept: 0x3ff<<19 | 1<<29, address: 1<<48 - 1},
}

// here is the machine of this process, which is that of every process it can read.
var here, supported = machines[runtime.GOARCH]

// Registers are what is known of a thread's registers at one place.
type Registers struct {
	PC    uint64
	value [maxRegisters]uint64
	known uint64 // set of registers
}

// At makes the registers of a thread of which only the stack and the instruction pointer are known.
func At(sp, pc uint64) Registers {
	r := Registers{PC: pc}
	r.Set(here.sp, sp)
	return r
}

// Set notes one register, by its DWARF number; others are ignored.
func (r *Registers) Set(number int, v uint64) {
	if number >= 0 && number < maxRegisters {
		r.value[number], r.known = v, r.known|1<<number
	}
}

// get is a register's value, where it is known.
func (r *Registers) get(number int) (uint64, bool) {
	if number < 0 || number >= maxRegisters || r.known>>number&1 == 0 {
		return 0, false
	}
	return r.value[number], true
}

// SP is the stack pointer.
func (r *Registers) SP() uint64 { return r.value[here.sp] }

// From makes them of what proc has read.
func From(u proc.UserRegisters) Registers {
	r := Registers{PC: u.PC}
	for i := range u.Value {
		if u.Known>>i&1 != 0 {
			r.Set(i, u.Value[i])
		}
	}
	return r
}
