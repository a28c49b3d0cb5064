// Package confine takes from a process, for good, what it will not need: a command that reads a stranger's files gives up
// writing elsewhere, starting programs, the network and other processes before it reads the first byte. The caller names the
// files and folders that it will read and write; Apply hands them to Landlock and loads a seccomp filter, as far as the kernel
// has them, and Enforced says what it has.
//
// It does not replace checks of what is read: a kernel without either leaves the process as it was, without a word.
package confine
