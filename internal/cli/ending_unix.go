//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// endingSignals end the work after the program's end.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// killWhole makes a command, when its time is up, end with everything that it started.
func killWhole(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
