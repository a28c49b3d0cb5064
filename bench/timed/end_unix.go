//go:build unix

package timed

import (
	"os/exec"
	"syscall"
)

// endWhole makes a command, when its time is up, be asked to end together with what it started: a launcher then ends ranks that have
// left its process group. rest ends what is left of the group at once.
func endWhole(cmd *exec.Cmd) (rest func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return func() {
		if cmd.Process != nil { // its time may be up before it starts
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
