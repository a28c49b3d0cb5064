//go:build !linux

package proc

import "errors"

// Listens is known on Linux only.
func Listens(int) (bool, error) { return false, errors.ErrUnsupported }
