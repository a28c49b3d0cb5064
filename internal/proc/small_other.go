//go:build !linux

package proc

import "os"

// readSmall reads a whole file.
func readSmall(path string, _ []byte) ([]byte, error) { return os.ReadFile(path) }
