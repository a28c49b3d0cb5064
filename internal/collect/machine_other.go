//go:build !linux

package collect

import (
	"io/fs"
	"time"

	"bottleneck/internal/record"
)

// readMachine knows only what the Go runtime says on this system.
func readMachine(_ fs.FS, m *record.Machine) { m.UnixNS = time.Now().UnixNano() }
