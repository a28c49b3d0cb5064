// Package counts counts what each traced step does: operators, launches, copies, allocations, and the calls of each
// place. Equal programs have equal counts, however long their steps take.
//
// It does not measure time, beyond the longest stack of each name.
package counts
