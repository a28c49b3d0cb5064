// Package cpython reads a running CPython interpreter from outside: it finds the runtime in a process, knows the
// layout of its structures (a table row per minor version from 3.8 to 3.12, the interpreter's own debug offsets from
// 3.13 on), walks the stacks of all threads without stopping them, and says who holds the GIL.
//
// Data passes through it as follows. Find turns a process into an Interpreter: version, address of _PyRuntime, Layout.
// A Reader takes snapshots of it: one batched read per snapshot covers every thread at the places where its frames
// were last time; a walk over these copies yields (code object, instruction) pairs; code objects are cached by address
// and checked again, since addresses are reused. A stack whose chain does not hold together is reported as torn,
// never repaired. Code turns instructions into lines.
//
// Every length, offset and pointer that comes out of the target is untrusted: each has a cap, and reading garbage ends
// in an error.
//
// It does not write to the target, decide when to sample, or keep samples.
package cpython
