//go:build unix

package ingest

import (
	"errors"
	"syscall"
)

// processExists says whether a process with that id runs on this host, whoever owns it.
func processExists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}
