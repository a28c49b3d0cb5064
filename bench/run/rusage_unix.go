//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the peak resident memory, in bytes, of the largest process that was waited for.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss * 1024
}
