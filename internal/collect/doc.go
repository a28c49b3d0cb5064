// Package collect runs a program and watches it: it finds the interpreter, starts the command with its streams, its
// process group and its signals left alone, waits for its end, reads what the machine offers before and after, tidies the
// session directory while the program goes on, and samples Python stacks from outside.
//
// Data passes one way: the program, its agent and the sampler write into the session directory of package record;
// readers take it from there. A failure here costs measurements, never the program.
//
// It does not read the measurements, print reports or touch the program's output.
package collect
