//go:build !linux

package collect

// ProcessStart is not known here.
func ProcessStart(int) string { return "" }
