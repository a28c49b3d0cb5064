// Package stats holds the numbers-only helpers of the analyses: sets of half-open intervals with their algebra, quantiles,
// and resampling intervals and tests that say whether a difference is more than noise. Times are plain int64
// nanoseconds here, so that the package depends on nothing.
//
// It does not know what a number means, reads no clock and draws no unseeded random numbers.
package stats
