//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

// endingSignals end the work after the program's end.
var endingSignals = []os.Signal{os.Interrupt}

// killWhole leaves a command's own children alone, which nothing here can name.
func killWhole(*exec.Cmd) {}
