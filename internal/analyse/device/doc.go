// Package device computes what a device did: kernels, copies, streams, why it was idle and which thread was late, how
// near its peak rates the work came. A Timeline is the work of one device in order; Work prepares those of one trace for
// all analyses that look at it.
//
// It does not compare ranks (collectives does), or say what a step waits for in the end (criticalpath does).
package device
