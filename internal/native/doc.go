// Package native walks the C stack of a thread that it does not stop, and names what stands there.
//
// Registers come from outside: the kernel's account of a blocked thread (stack and instruction pointer), a perf event,
// or a short stop. From there an Unwinder follows the call frame information (.eh_frame, DWARF 5 section 6.4 and the
// Linux Standard Base's chapter on it) that every library carries for its exceptions. It is read out of the target's
// own memory, so that libraries that were deleted, replaced or lie in a container need no file; only names of functions
// need one. Where a library has no such information for a place, frame pointers are followed as long as they hold;
// where those do not either, the stack ends there and says so: no return address is guessed.
//
// Everything in the target is untrusted: lengths, numbers of steps and tables are capped, and reading garbage ends in a
// stack that is cut.
//
// It does not know Python, read registers, or decide whose stack is wanted.
package native
