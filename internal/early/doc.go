// Package early does what must be done before any other package's start: a process that may open but a few files has none opened by
// these. Where the Go runtime finds no file left for its poller, which the first opened file begins, it ends the process before main.
//
// Packages start in the order of their dependencies and names; this one needs system calls alone, which nearly every other one needs.
// It does not look at arguments.
package early
