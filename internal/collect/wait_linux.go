package collect

import (
	"time"

	"golang.org/x/sys/unix"
)

// betweenStops is how long the wait for a program pauses when it was woken by a stop.
const betweenStops = time.Millisecond

// awaitEnd returns once a child of this process has ended; its status is left to be read. While the sampler holds the child for a
// moment (--native=stop), every wait of this process, os.Process.Wait's too, is told of that stop although it did not ask for stops,
// and would take it for the end.
func awaitEnd(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err != nil || ended(info.Code):
			return // the wait that follows says what the matter is
		default:
			time.Sleep(betweenStops)
		}
	}
}

// ended says whether si_code of a SIGCHLD tells of a process's end.
func ended(code int32) bool {
	const exited, killed, dumped = 1, 2, 3 // CLD_…
	return code == exited || code == killed || code == dumped
}
