package proc

import "golang.org/x/sys/unix"

// perfRegisters is the set of registers that perf is asked for (arch/x86/include/uapi/asm/perf_regs.h: the general ones
// are 0 to 8, with the instruction pointer last, and 16 to 23), and perfNumbers their DWARF numbers in the same order.
const perfRegisters = 0x1ff | 0xff<<16

var perfNumbers = []int{0, 3, 2, 1, 4, 5, 6, 7, numberPC, 8, 9, 10, 11, 12, 13, 14, 15}

// stopped reads the registers of a thread that ptrace has stopped.
func stopped(tid int) (UserRegisters, error) {
	var r UserRegisters
	var p unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &p); err != nil {
		return r, err
	}
	for i, v := range []uint64{p.Rax, p.Rbx, p.Rcx, p.Rdx, p.Rsi, p.Rdi, p.Rbp, p.Rsp, p.Rip, p.R8, p.R9, p.R10, p.R11, p.R12,
		p.R13, p.R14, p.R15} {
		r.set(perfNumbers[i], v)
	}
	r.SP = p.Rsp
	return r, nil
}

// numberSP is the stack pointer's DWARF number.
const numberSP = 7
