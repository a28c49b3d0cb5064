// Package main measures what reading Python stacks from outside costs and how right it is, beside py-spy and austin.
//
// Each row of its table is one number of the sampler's goals: CPU time per sample and its parts, the slowdown of the
// program, many processes, stacks that were lost or wrong, the time from attaching to the first sample, the size of an
// hour's recording, and the agreement with programs that count their own time. Rows are selected by name on the command
// line; without names all are measured. Samplers alternate within a row, so that the machine's drift falls on all of
// them; a figure is the median of its rounds.
//
// It is run from the root of the repository. It does not judge the machine: figures of a loaded one are worth nothing.
package main
