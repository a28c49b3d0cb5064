// Package usage reads what processes held and used over time, as the kernel counted it: whether memory grows with the steps,
// and what each step takes of the kernel: CPU time, page faults, switches, disks.
//
// It does not look for what keeps the memory: a rule does (internal/analyse/cause/memory).
package usage
