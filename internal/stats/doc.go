// Package stats holds the numbers-only helpers of the analyses: sets of half-open intervals with their algebra, integrals of
// what runs at once, quantiles, tests and intervals of repeated measurements, and maps gone over in order. Times are plain int64
// nanoseconds here, so that the package depends on nothing.
//
// It does not know what a number means, and reads no clock.
package stats
