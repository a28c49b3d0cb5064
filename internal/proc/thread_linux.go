package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// OSState is what the kernel says of one thread at one moment.
type OSState struct {
	Running bool      // on a CPU or runnable
	Disk    bool      // uninterruptible (known only through Stat)
	Syscall int       // number of the system call it is blocked in; -1 none or unknown
	Args    [2]uint64 // its first arguments
}

// Thread watches one thread of a process; it keeps the file of its state open, since opening costs more than reading.
type Thread struct {
	PID, TID int
	fd       int // of /proc/PID/task/TID/syscall, else of stat
	stat     bool
	sched    int // fd of /proc/PID/task/TID/schedstat; 0 not opened, -1 not there
	place    int // the same of stat, for Processor
	last     [64]byte
	lastLen  int
	buf      [512]byte
}

// OpenThread begins to watch a thread.
func OpenThread(pid, tid int) (*Thread, error) {
	t := &Thread{PID: pid, TID: tid, fd: -1}
	if err := t.open("syscall"); err == nil {
		if _, err := t.read(); err == nil {
			return t, nil
		}
		unix.Close(t.fd)
	}
	t.stat = true
	if err := t.open("stat"); err != nil {
		return nil, openError(pid, fmt.Sprintf("task/%d/stat", tid), err)
	}
	return t, nil
}

func (t *Thread) open(name string) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/%s", t.PID, t.TID, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.fd = -1
		return err
	}
	t.fd = fd
	return nil
}

// Ran says whether the thread was on a processor since the last call, by its scheduling account; true where that is
// not known. It costs less than State.
func (t *Thread) Ran() bool {
	if t.sched == 0 {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", t.PID, t.TID), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if t.sched = fd; err != nil || fd == 0 {
			t.sched = -1
		}
	}
	if t.sched < 0 {
		return true
	}
	n, err := unix.Pread(t.sched, t.buf[:len(t.last)], 0)
	if err != nil || n <= 0 {
		return true
	}
	same := n == t.lastLen && bytes.Equal(t.buf[:n], t.last[:n])
	t.lastLen = copy(t.last[:], t.buf[:n])
	return !same
}

// processorField is where a stat file says on which processor the thread was last, counted from the state, which follows the name.
const processorField = 39 - 3

// Processor is the processor that the thread runs on, or ran on last; false where that is not known.
func (t *Thread) Processor() (int, bool) {
	if t.place == 0 {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/stat", t.PID, t.TID), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if t.place = fd; err != nil || fd == 0 {
			t.place = -1
		}
	}
	if t.place < 0 {
		return 0, false
	}
	n, err := unix.Pread(t.place, t.buf[:], 0)
	if err != nil || n <= 0 {
		return 0, false
	}
	return processorOf(t.buf[:n])
}

func processorOf(stat []byte) (int, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= processorField {
		return 0, false
	}
	n, err := strconv.Atoi(string(fields[processorField]))
	return n, err == nil && n >= 0
}

// Close ends the watching.
func (t *Thread) Close() error {
	if t.sched > 0 {
		unix.Close(t.sched)
		t.sched = -1
	}
	if t.place > 0 {
		unix.Close(t.place)
		t.place = -1
	}
	if t.fd < 0 {
		return nil
	}
	fd := t.fd
	t.fd = -1
	return unix.Close(fd)
}

func (t *Thread) read() ([]byte, error) {
	n, err := unix.Pread(t.fd, t.buf[:], 0)
	if err != nil {
		if err == unix.ESRCH {
			return nil, fmt.Errorf("thread %d of process %d: %w", t.TID, t.PID, ErrGone)
		}
		return nil, fmt.Errorf("thread %d of process %d: %w", t.TID, t.PID, err)
	}
	if n <= 0 {
		return nil, fmt.Errorf("thread %d of process %d: %w", t.TID, t.PID, ErrGone)
	}
	return t.buf[:n], nil
}

// State reads what the thread does now.
func (t *Thread) State() (OSState, error) {
	b, err := t.read()
	if err != nil {
		return OSState{Syscall: -1}, err
	}
	if t.stat {
		return parseStatState(b), nil
	}
	return parseSyscall(b), nil
}

// parseSyscall reads /proc/PID/task/TID/syscall: "running", or the number and six arguments, or -1 when it is blocked
// outside a system call.
func parseSyscall(b []byte) OSState {
	s := OSState{Syscall: -1}
	if bytes.HasPrefix(b, []byte("running")) {
		s.Running = true
		return s
	}
	number, rest, _ := bytes.Cut(b, []byte(" "))
	if n, err := strconv.Atoi(string(number)); err == nil {
		s.Syscall = n
	}
	for i := range s.Args {
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte(" "))
		word = bytes.TrimPrefix(word, []byte("0x"))
		s.Args[i], _ = strconv.ParseUint(string(word), 16, 64)
	}
	return s
}

func parseStatState(b []byte) OSState {
	s := OSState{Syscall: -1}
	if i := bytes.LastIndexByte(b, ')'); i >= 0 && i+2 < len(b) {
		s.Running, s.Disk = b[i+2] == 'R', b[i+2] == 'D'
	}
	return s
}

// Place is where a blocked thread stands: in which system call (-1: none), its stack pointer, and the instruction
// behind the call. ok is false for a thread that runs, or where the kernel does not tell.
func (t *Thread) Place() (syscall int, sp, pc uint64, ok bool) {
	if t.stat {
		return -1, 0, 0, false
	}
	b, err := t.read()
	if err != nil {
		return -1, 0, 0, false
	}
	f := bytes.Fields(b)
	if len(f) < 3 { // "running"
		return -1, 0, 0, false
	}
	number, err := strconv.Atoi(string(f[0]))
	sp, err1 := strconv.ParseUint(string(bytes.TrimPrefix(f[len(f)-2], []byte("0x"))), 16, 64)
	pc, err2 := strconv.ParseUint(string(bytes.TrimPrefix(f[len(f)-1], []byte("0x"))), 16, 64)
	return number, sp, pc, err == nil && err1 == nil && err2 == nil
}

// Turns is the kernel's account of the thread's time on processors, as text: one that did not change says that the
// thread has not run. "" where it is not known. Unlike Ran it remembers nothing.
func (t *Thread) Turns() string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", t.PID, t.TID))
	if err != nil {
		return ""
	}
	return string(b)
}

// Disk says whether the thread sleeps uninterruptibly now, which is a wait for a disk nearly always.
func (t *Thread) Disk() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", t.PID, t.TID))
	return err == nil && parseStatState(b).Disk
}
