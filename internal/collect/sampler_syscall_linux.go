package collect

import "golang.org/x/sys/unix"

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
