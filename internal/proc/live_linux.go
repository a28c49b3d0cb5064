package proc

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxIov is the kernel's limit of pieces per process_vm_readv.
const maxIov = 1024

// Live reads the memory of a running process. It is used by one goroutine at a time.
type Live struct {
	pid    int
	local  []unix.Iovec
	remote []unix.RemoteIovec
	file   *os.File // /proc/PID/mem, once process_vm_readv was refused by a filter
}

// OpenMemory gives access to the memory of pid. Nothing is opened yet; the first read shows whether it is permitted.
func OpenMemory(pid int) *Live { return &Live{pid: pid} }

// Close releases what the reader holds.
func (l *Live) Close() error {
	if l.file != nil {
		return l.file.Close()
	}
	return nil
}

// Read implements Memory.
func (l *Live) Read(addr uint64, buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	n, err := l.ReadMany([]Range{{addr, buf}})
	if err == nil && n == 0 {
		err = fmt.Errorf("read %d bytes at %#x of process %d: %w", len(buf), addr, l.pid, ErrUnreadable)
	}
	return err
}

// ReadMany implements Memory.
func (l *Live) ReadMany(ranges []Range) (int, error) {
	if len(ranges) == 0 {
		return 0, nil
	}
	if l.file != nil {
		return l.readFile(ranges)
	}
	if len(ranges) > maxIov {
		ranges = ranges[:maxIov]
	}
	l.local, l.remote = l.local[:0], l.remote[:0]
	for i := range ranges {
		r := &ranges[i]
		if len(r.Buf) == 0 {
			continue
		}
		v := unix.Iovec{Base: &r.Buf[0]}
		v.SetLen(len(r.Buf))
		l.local = append(l.local, v)
		l.remote = append(l.remote, unix.RemoteIovec{Base: uintptr(r.Addr), Len: len(r.Buf)})
	}
	got, errno := readv(l.pid, l.local, l.remote)
	runtime.KeepAlive(ranges)
	switch errno {
	case 0:
		return complete(ranges, got), nil
	case unix.EFAULT:
		return 0, nil
	case unix.ESRCH:
		return 0, fmt.Errorf("read process %d: %w", l.pid, ErrGone)
	case unix.ENOSYS, unix.EPERM:
		return l.fallBack(ranges, errno)
	}
	return 0, fmt.Errorf("process_vm_readv of process %d: %w", l.pid, errno)
}

// readv is process_vm_readv without the wrapper's copies. The pieces are short, so the thread stays in the scheduler's
// eyes: handing it over and back would cost as much as the read.
func readv(pid int, local []unix.Iovec, remote []unix.RemoteIovec) (int, unix.Errno) {
	if len(local) == 0 {
		return 0, 0
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(&local[0])), uintptr(len(local)),
		uintptr(unsafe.Pointer(&remote[0])), uintptr(len(remote)), 0)
	return int(n), errno
}

// complete counts the leading ranges that got bytes cover.
func complete(ranges []Range, got int) int {
	for i := range ranges {
		got -= len(ranges[i].Buf)
		if got < 0 {
			return i
		}
	}
	return len(ranges)
}

// fallBack tries /proc/PID/mem, which works where a system call filter forbids process_vm_readv.
func (l *Live) fallBack(ranges []Range, cause unix.Errno) (int, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", l.pid))
	if err != nil {
		if os.IsNotExist(err) {
			return 0, fmt.Errorf("read process %d: %w", l.pid, ErrGone)
		}
		return 0, fmt.Errorf("process_vm_readv of process %d: %w (%w)", l.pid, ErrNotPermitted, cause)
	}
	l.file = f
	return l.readFile(ranges)
}

func (l *Live) readFile(ranges []Range) (int, error) {
	for i := range ranges {
		r := &ranges[i]
		if len(r.Buf) == 0 {
			continue
		}
		n, err := unix.Pread(int(l.file.Fd()), r.Buf, int64(r.Addr))
		if n == 0 && err == nil {
			return i, fmt.Errorf("read process %d: %w", l.pid, ErrGone)
		}
		if n < len(r.Buf) {
			return i, nil
		}
	}
	return len(ranges), nil
}
