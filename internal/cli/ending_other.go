//go:build !unix

package cli

import "os"

// endingSignals end the work after the program's end.
var endingSignals = []os.Signal{os.Interrupt}
