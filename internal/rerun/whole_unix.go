//go:build unix

package rerun

import (
	"os/exec"
	"syscall"
)

// EndWhole makes a command, when its time is up, end with everything that it started.
func EndWhole(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
