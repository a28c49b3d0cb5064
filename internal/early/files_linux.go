package early

import "syscall"

// Few is how many open files are so few that the launcher does without any.
const Few = 16

var taken []int

func init() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= Few {
		return
	}
	for {
		fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return // none is left
		}
		taken = append(taken, fd)
	}
}

// Release gives back the files that were taken; what becomes another program needs not, for they close by themselves.
func Release() {
	for _, fd := range taken {
		_ = syscall.Close(fd)
	}
	taken = nil
}
