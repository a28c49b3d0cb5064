//go:build unix

package cli

import (
	"os/exec"
	"runtime"
	"syscall"
)

// peakMiB is the most memory that an ended program had.
func peakMiB(cmd *exec.Cmd) int64 {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there
		return usage.Maxrss >> 20
	}
	return int64(usage.Maxrss) >> 10
}
