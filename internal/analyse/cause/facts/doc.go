// Package facts has what rules about a run of ours read: the account of its steps, the samples with the places and functions that they lie
// in, spans that the agent timed, workers, cores, and the lines of the program's sources.
//
// It does not name a cause or a price.
package facts
