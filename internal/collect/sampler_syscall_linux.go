package collect

import (
	"bottleneck/internal/model"

	"golang.org/x/sys/unix"
)

const sysFutex = unix.SYS_FUTEX

// fileCall says whether a system call may wait for a disk.
func fileCall(n int) bool {
	switch n {
	case -1, unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV,
		unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_MSYNC, unix.SYS_OPENAT, unix.SYS_FALLOCATE, unix.SYS_FTRUNCATE:
		return true
	}
	return false
}

// futexPrivate marks a futex that no other process has.
const futexPrivate = 128

// waitedFor is what a system call's number and first arguments tell of what a thread sleeps for, as flags of its sample: a set time, where
// it looks at no file, or a lock of its own process. 0 for all else.
func waitedFor(call int, args [2]uint64) uint8 {
	switch {
	case call == unix.SYS_NANOSLEEP, call == unix.SYS_CLOCK_NANOSLEEP:
		return model.SampleTimedSleep
	case call == unix.SYS_PSELECT6 && args[0] == 0, call == sysSelect && args[0] == 0: // time.sleep before Python 3.11
		return model.SampleTimedSleep
	case call == sysFutex && args[1]&futexPrivate != 0:
		return model.SampleOwnLock
	}
	return 0
}
