//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// holdLock waits until nobody else holds the lock of the file at path, which it creates, and holds it until release is called.
func holdLock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil // which also gives the lock back
}
