//go:build !linux

package proc

import "errors"

// ErrLateStop says that a thread did not stop in time.
var ErrLateStop = errors.New("the thread did not stop in time")

// StackEvent asks the kernel for the stack of a running thread; not on this system.
type StackEvent struct{}

// OpenStackEvent fails.
func OpenStackEvent(int) (*StackEvent, error) { return nil, ErrNoSystem }

// Arm fails.
func (*StackEvent) Arm() error { return ErrNoSystem }

// Disarm does nothing.
func (*StackEvent) Disarm() {}

// Take has nothing.
func (*StackEvent) Take(int64) (UserStack, bool) { return UserStack{}, false }

// Close does nothing.
func (*StackEvent) Close() error { return nil }

// StopThread fails.
func StopThread(int, int, func(UserRegisters)) error { return ErrNoSystem }

// Release has nothing to do.
func Release(int, int) bool { return true }
