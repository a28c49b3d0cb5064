//go:build !linux

package collect

// lowerThread does nothing where a priority belongs to the whole process.
func lowerThread() {}
