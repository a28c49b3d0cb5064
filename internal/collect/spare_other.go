//go:build !linux

package collect

// SpareMemory is not known on this system.
func SpareMemory() int64 { return 0 }
