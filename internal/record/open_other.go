//go:build !unix

package record

// openNonBlocking is nothing where files have no such mode.
const openNonBlocking = 0
