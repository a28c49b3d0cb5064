// Package replay answers "how long would a step take if …?". It turns traced steps into a graph of what waits for what
// (program order of threads, launches, streams, event waits, synchronising calls, threads that wait for one another,
// collectives across ranks), and unprofiled steps into one of the driving thread, its DataLoader workers and their queue;
// then it computes all times anew with some durations changed.
//
// Times between two activities are never stored: each activity begins when everything it waits for is done, after a lag
// that is one constant per kind of wait (the median of the trace). What that leaves unexplained is slack, reported as such.
//
// It does not decide what is slow nor what a fix would do: callers say what to change, and read the difference.
package replay
