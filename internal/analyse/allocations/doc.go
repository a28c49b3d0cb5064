// Package allocations computes who held memory: over the time of a trace, from its memory events, and in memory
// snapshots of the caching allocator.
//
// It does not know what an operator computes.
package allocations
