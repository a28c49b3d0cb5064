package proc

import "golang.org/x/sys/unix"

// perfRegisters is the set of registers that perf is asked for (arch/arm64/include/uapi/asm/perf_regs.h: x0 to x30, then
// the stack pointer and the instruction pointer), and perfNumbers their DWARF numbers in the same order.
const perfRegisters = 1<<33 - 1

var perfNumbers = func() []int {
	n := make([]int, 33)
	for i := range 32 {
		n[i] = i
	}
	n[32] = numberPC
	return n
}()

// stopped reads the registers of a thread that ptrace has stopped.
func stopped(tid int) (UserRegisters, error) {
	var r UserRegisters
	var p unix.PtraceRegsArm64
	const general = 1 // NT_PRSTATUS
	if err := unix.PtraceGetRegSetArm64(tid, general, &p); err != nil {
		return r, err
	}
	for i, v := range p.Regs {
		r.set(i, v)
	}
	r.set(numberSP, p.Sp)
	r.set(numberPC, p.Pc)
	r.SP = p.Sp
	return r, nil
}

// numberSP is the stack pointer's DWARF number.
const numberSP = 31
