package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of what a stack event records: the kernel copies perfStack bytes of the stack into a ring of perfPages.
const (
	perfStack  = 16 << 10
	perfPages  = 8
	perfPeriod = 10_000 // ns of the thread's own time until an event that was asked for happens; the kernel's least
)

// StackEvent asks the kernel for the registers and the stack of a thread while that runs. It is a software event of the
// thread's own clock, that counts only when it is armed: the kernel's interrupt takes the record and the thread goes on.
// Machines without performance counters have it too.
type StackEvent struct {
	fd   int
	page int
	ring []byte
	buf  []byte
}

// OpenStackEvent prepares the event for a thread, as its id is seen here. Where the kernel refuses, the error says
// which setting to change.
func OpenStackEvent(tid int) (*StackEvent, error) {
	if perfRegisters == 0 {
		return nil, fmt.Errorf("perf event of thread %d: registers of this processor are not known", tid)
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Sample: perfPeriod,
		Sample_type:        unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER,
		Bits:               unix.PerfBitDisabled | unix.PerfBitExcludeHv | unix.PerfBitUseClockID,
		Clockid:            unix.CLOCK_MONOTONIC,
		Sample_regs_user:   perfRegisters,
		Sample_stack_user:  perfStack,
		Read_format:        0,
		Branch_sample_type: 0}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) { // time in the kernel may be seen by few
		attr.Bits |= unix.PerfBitExcludeKernel
		fd, err = unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return nil, perfError(tid, err)
	}
	e := &StackEvent{fd: fd, page: os.Getpagesize()}
	if e.ring, err = unix.Mmap(fd, 0, (1+perfPages)*e.page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		unix.Close(fd)
		return nil,
			fmt.Errorf(
				"perf event of thread %d: %d pages of memory for its records: %w; raise kernel.perf_event_mlock_kb or RLIMIT_MEMLOCK",
				tid, perfPages, err)
	}
	return e, nil
}

// perfError names the setting that forbids the event.
func perfError(tid int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("perf event of thread %d: %w", tid, ErrGone)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("perf event of thread %d: %w: %s", tid, ErrNotPermitted, perfAdvice())
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("perf event of thread %d: this kernel has no perf_event_open", tid)
	}
	return fmt.Errorf("perf event of thread %d: %w", tid, err)
}

// perfAdvice says how perf_event_open gets permitted.
func perfAdvice() string {
	b, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	level, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err == nil && level > 2 {
		return fmt.Sprintf("kernel.perf_event_paranoid is %d: `sudo sysctl kernel.perf_event_paranoid=2`, or sudo", level)
	}
	return "a system call filter or the owner of the process forbids it: in Docker --cap-add PERFMON (or SYS_ADMIN) and a seccomp " +
		"profile that allows perf_event_open, else sudo"
}

// Arm asks for one record; it comes within some 10 µs of the thread's own time, and not while it waits.
func (e *StackEvent) Arm() error {
	if err := unix.IoctlSetInt(e.fd, unix.PERF_EVENT_IOC_REFRESH, 1); err != nil {
		return fmt.Errorf("arm perf event: %w", err)
	}
	return nil
}

// Disarm takes the request back, where no record came.
func (e *StackEvent) Disarm() { _ = unix.IoctlSetInt(e.fd, unix.PERF_EVENT_IOC_DISABLE, 0) }

// Take empties the ring and gives the last record that is not older than since; ok is false where there is none.
func (e *StackEvent) Take(since int64) (s UserStack, ok bool) {
	control := (*unix.PerfEventMmapPage)(unsafe.Pointer(&e.ring[0]))
	head, tail := atomic.LoadUint64(&control.Data_head), control.Data_tail
	size := uint64(perfPages * e.page)
	if head-tail > size {
		tail = head // overrun: nothing in it can be trusted
	}
	for head-tail >= 8 {
		e.copyOut(tail, 8)
		length := uint64(binary.LittleEndian.Uint16(e.buf[6:]))
		if length < 8 || length > head-tail {
			break
		}
		if binary.LittleEndian.Uint32(e.buf) != unix.PERF_RECORD_SAMPLE { // such as notes of throttling
			tail += length
			continue
		}
		e.copyOut(tail, length)
		tail += length
		if got, whole := parseSample(e.buf[8:]); whole && got.Time >= since {
			s, ok = got, true
		} else {
			ok = false // its bytes are overwritten
		}
	}
	atomic.StoreUint64(&control.Data_tail, head)
	return s, ok
}

// copyOut copies n bytes of the ring, which wraps around.
func (e *StackEvent) copyOut(at, n uint64) {
	data := e.ring[e.page:]
	size := uint64(len(data))
	if uint64(cap(e.buf)) < n {
		e.buf = make([]byte, n, 1<<16)
	}
	e.buf = e.buf[:n]
	from := at % size
	k := copy(e.buf, data[from:])
	copy(e.buf[k:], data)
}

// parseSample reads a record: time, registers with their kind, and the stack with the length of what is in it.
func parseSample(b []byte) (s UserStack, ok bool) {
	le := binary.LittleEndian
	count := bits.OnesCount64(perfRegisters)
	if len(b) < 16+8*count+8 || le.Uint64(b[8:]) != unix.PERF_SAMPLE_REGS_ABI_64 {
		return s, false
	}
	s.Time = int64(le.Uint64(b))
	for i := range count {
		s.set(perfNumbers[i], le.Uint64(b[16+8*i:]))
	}
	s.SP = s.Value[numberSP]
	b = b[16+8*count:]
	size := le.Uint64(b)
	if size == 0 {
		return s, true
	}
	if len(b) < 16 || size > uint64(len(b))-16 {
		return s, false
	}
	s.Stack = b[8 : 8+min(size, le.Uint64(b[8+size:]))]
	return s, true
}

// Close ends the event.
func (e *StackEvent) Close() error {
	if e.ring != nil {
		_ = unix.Munmap(e.ring)
		e.ring = nil
	}
	return unix.Close(e.fd)
}
