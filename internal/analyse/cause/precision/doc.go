// Package precision has the rules on number formats that the hardware is slow at: half precision and float64 on a CPU, fp32 beside matrix
// units, and numbers too small to be kept whole.
//
// It does not price a change of results: what lower precision does to a model is the user's to check.
package precision
