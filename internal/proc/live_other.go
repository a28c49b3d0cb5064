//go:build !linux

package proc

import "errors"

// ErrNoSystem says that processes can be read from outside on Linux only.
var ErrNoSystem = errors.New("reading other processes is supported on Linux only")

// Live reads the memory of a running process; not on this system.
type Live struct{}

// OpenMemory gives a Live whose reads fail.
func OpenMemory(int) *Live { return &Live{} }

// Close does nothing.
func (*Live) Close() error { return nil }

// Read fails.
func (*Live) Read(uint64, []byte) error { return ErrNoSystem }

// ReadMany fails.
func (*Live) ReadMany([]Range) (int, error) { return 0, ErrNoSystem }
