//go:build unix

package cli

import (
	"os"
	"syscall"
)

// endingSignals end the work after the program's end.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
