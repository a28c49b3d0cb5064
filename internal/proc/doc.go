// Package proc sees one process from outside: its memory, mappings, threads, executable files and identity.
//
// Memory is the seam: a Live process is read with process_vm_readv (or through /proc/PID/mem where that call is
// filtered), a Recorded one from a text file that holds the regions that were read once. Everything above works the
// same on both. Files of a process are opened through its own root, so that processes in containers are seen too.
//
// It does not know Python, stop or signal a process, or write to one.
package proc
