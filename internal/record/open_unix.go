//go:build unix

package record

import "syscall"

// openNonBlocking keeps opening a pipe that nobody writes to from waiting.
const openNonBlocking = syscall.O_NONBLOCK
