// Package memory has the rules on operators that move more data than they must: what a few rows, a product of matrices or one call would
// do without.
//
// It does not judge number formats: package precision does.
package memory
