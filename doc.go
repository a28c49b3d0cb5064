// Package bottleneck is the root of the module and holds its import rules as a test; the program is cmd/bottleneck.
//
// It does not contain code.
package bottleneck
