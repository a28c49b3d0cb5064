// Package machine has the rules on what the machine withholds: cores, a quota, shared memory, a device that others use; and on more threads
// than there are cores.
//
// It does not ask the machine: it reads what was recorded of it.
package machine
