package record

import (
	"os"

	"golang.org/x/sys/unix"
)

// KeepRoom keeps bytes of the disk for what is written to a file at the given offset and after, where the file system can do that. The
// file's size stays; cutting the file to its size gives the room back.
func KeepRoom(f *os.File, offset, bytes int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, offset, bytes)
}

// Room is how many bytes the disk that a directory lies on has left; false where that is not known.
func Room(dir string) (int64, bool) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil || disk.Blocks == 0 {
		return 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), true
}
