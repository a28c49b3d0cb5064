package collect

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowerThread makes the calling goroutine's thread yield to the program. On Linux a priority is a thread's; the thread
// stays the goroutine's and ends with it.
func lowerThread() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 15)
}
