// Package memory has the rules on operators that move more data than they must: what a few rows, a product of matrices or one call would
// do without. Package precision has those on number formats.
package memory
