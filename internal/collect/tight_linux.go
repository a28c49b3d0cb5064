package collect

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"bottleneck/internal/early"
)

// What the launcher needs of each limit for itself. Where there is less, the Go runtime ends this process at some moment, and the
// program would lose its parent and its exit status.
const (
	needFiles   = early.Few
	needTasks   = 32
	needAddress = 3 << 29 // of which little is used
	needData    = 256 << 20
)

// TooTight says which limit of this process leaves too little for a launcher, "" where none does. It opens no file unless that is
// possible, and starts no thread.
func TooTight() string {
	if limit, ok := softLimit(unix.RLIMIT_NOFILE); ok && limit < needFiles {
		return fmt.Sprintf("%d open files (ulimit -n) are too few, %d are needed", limit, needFiles)
	}
	if limit, ok := softLimit(unix.RLIMIT_AS); ok && limit < needAddress {
		return fmt.Sprintf("%d KiB of address space (ulimit -v) are too few, %d are needed", limit>>10, needAddress>>10)
	}
	if limit, ok := softLimit(unix.RLIMIT_DATA); ok && limit < needData {
		return fmt.Sprintf("%d KiB of data (ulimit -d) are too few, %d are needed", limit>>10, needData>>10)
	}
	limit, ok := softLimit(unix.RLIMIT_NPROC)
	if !ok || os.Geteuid() == 0 || limit >= 1<<20 { // root has no such limit; the count takes time and nobody has so many
		return ""
	}
	if limit < needTasks || limit < uint64(tasksOf("/proc", os.Getuid())+needTasks) {
		return fmt.Sprintf("%d processes and threads of this user (ulimit -u) are too few, %d more than there are now are needed",
			limit, needTasks)
	}
	return ""
}

// softLimit is a limit as it is in force for this process; false where there is none. The Go runtime has raised that of open files as
// far as it may be raised, for itself alone.
func softLimit(which int) (uint64, bool) {
	var r unix.Rlimit
	err := unix.Getrlimit(which, &r)
	return r.Cur, err == nil && r.Cur != unix.RLIM_INFINITY
}

// tasksOf counts a user's processes and their threads.
func tasksOf(proc string, uid int) int {
	total := 0
	paths, _ := filepath.Glob(proc + "/[0-9]*")
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || owner(info) != uid {
			continue
		}
		threads, _ := os.ReadDir(filepath.Join(path, "task")) // none of one that has ended meanwhile
		total += len(threads)
	}
	return total
}
