package proc

import "golang.org/x/sys/unix"

// readSmall reads a file of /proc of a few kB in three system calls, where os.ReadFile needs eight. What it gives is part of buf.
func readSmall(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}
