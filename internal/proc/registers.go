package proc

// UserRegisters are registers of a thread in its own code, by DWARF number.
type UserRegisters struct {
	PC, SP uint64
	Value  [33]uint64
	Known  uint64 // set of numbers
}

// numberPC stands for the instruction pointer, which has no number of its own on all processors.
const numberPC = -1

func (r *UserRegisters) set(number int, v uint64) {
	if number == numberPC {
		r.PC = v
		return
	}
	r.Value[number], r.Known = v, r.Known|1<<number
}

// UserStack is a thread's registers and the upper part of its stack, from the stack pointer on, at one moment.
type UserStack struct {
	UserRegisters
	Time  int64  // CLOCK_MONOTONIC, ns
	Stack []byte // valid until the next one is asked for
}
