// Package analyse computes what a report says from a session's model: torch's key averages, the parts of a step, kernels,
// what the device did and why it was idle, copies, collectives over ranks, the critical path, memory, and how near the
// device's peak rates the work came. An analysis is a pure function of the model in a file of its own, with its test
// beside it; every breakdown has an explicit unknown or idle part and its parts sum to the whole.
//
// Data flows through it one way: traces in columns come in, small slices of plain structs go out, sorted, never nil.
//
// It does not read files or the clock, format numbers for people, or decide what is a defect (analyse/cause does).
package analyse
