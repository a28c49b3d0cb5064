//go:build !linux

package proc

// OSState is what the kernel says of one thread at one moment.
type OSState struct {
	Running, Disk bool
	Syscall       int
	Args          [2]uint64
}

// Thread watches one thread of a process; not on this system.
type Thread struct{ PID, TID int }

// OpenThread fails.
func OpenThread(int, int) (*Thread, error) { return nil, ErrNoSystem }

// Close does nothing.
func (*Thread) Close() error { return nil }

// State fails.
func (*Thread) State() (OSState, error) { return OSState{}, ErrNoSystem }

// Place is unknown here.
func (*Thread) Place() (syscall int, sp, pc uint64, ok bool) { return -1, 0, 0, false }

// Turns is unknown here.
func (*Thread) Turns() string { return "" }

// Disk is unknown here.
func (*Thread) Disk() bool { return false }

// Ran is unknown here.
func (*Thread) Ran() bool { return true }
