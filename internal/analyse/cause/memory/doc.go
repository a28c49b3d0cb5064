// Package memory has the rules on operators that move more data than they must, or compute in formats that the hardware is slow at.
//
// It does not price a change of results: what lower precision does to a model is the user's to check.
package memory
