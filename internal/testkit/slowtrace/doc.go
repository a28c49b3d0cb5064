// Package slowtrace gives tests their traces: made by hand, at random, or read from real files by a reader that is slow
// and obvious, so that the analyses are not tested with the reader that they are used with.
//
// It does not know any analysis.
package slowtrace
