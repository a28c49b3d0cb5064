package proc

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxStop bounds the wait for a thread to stop; one that is deep in the kernel stops when it comes out.
const maxStop = 2 * time.Millisecond

// ErrLateStop says that a thread did not stop in time. It goes on by itself: whoever asked must call Release until that
// is done.
var ErrLateStop = errors.New("the thread did not stop in time")

// stopSignal is where si_status stands in a siginfo of a child.
const stopSignal = 24

// StopThread stops one thread of another process for as long as f runs, which gets its registers, and lets it go on. The
// calling goroutine must be locked to its OS thread. A signal that arrives meanwhile is passed on. Should this process
// die meanwhile, the kernel lets the thread go on.
func StopThread(pid, tid int, f func(UserRegisters)) error {
	if err := unix.PtraceSeize(tid); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("stop thread %d: %w", tid, ErrGone)
		}
		if errors.Is(err, unix.EPERM) {
			return fmt.Errorf("stop thread %d: %w: a debugger or strace holds it already, or the kernel forbids ptrace",
				tid, ErrNotPermitted)
		}
		return fmt.Errorf("stop thread %d: %w", tid, err)
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return fmt.Errorf("stop thread %d: %w", tid, err)
	}
	signal, err := waitStop(pid, tid)
	if err != nil {
		return err
	}
	defer detach(tid, signal)
	r, err := stopped(tid)
	if err != nil {
		return fmt.Errorf("registers of thread %d: %w", tid, err)
	}
	f(r)
	return nil
}

// waitStop waits until a thread has stopped; signal is the one to pass on to it.
func waitStop(pid, tid int) (signal int, err error) {
	for until := time.Now().Add(maxStop); ; {
		signal, done, err := pollStop(pid, tid)
		if err != nil || done {
			return signal, err
		}
		if time.Now().After(until) {
			return 0, fmt.Errorf("thread %d: %w", tid, ErrLateStop)
		}
		pause := unix.NsecToTimespec(int64(20 * time.Microsecond))
		_ = unix.Nanosleep(&pause, nil)
	}
}

// pollStop asks whether a thread has stopped. The end of a process that this one has started is left to be waited for
// by whoever started it; every other end is the tracer's to take note of.
func pollStop(pid, tid int) (signal int, done bool, err error) {
	options := unix.WSTOPPED | unix.WNOHANG | unix.WALL
	if s, err := ReadStat(pid); tid != pid || err != nil || s.PPID != os.Getpid() {
		options |= unix.WEXITED
	}
	var info unix.Siginfo
	for {
		if err = unix.Waitid(unix.P_PID, tid, &info, options, nil); err != unix.EINTR {
			break
		}
	}
	const exited, killed, dumped = 1, 2, 3 // CLD_…
	switch {
	case err != nil:
		return 0, false, fmt.Errorf("wait for thread %d: %w", tid, ErrGone)
	case info.Signo == 0:
		return 0, false, nil
	case info.Code == exited, info.Code == killed, info.Code == dumped:
		return 0, false, fmt.Errorf("wait for thread %d: %w", tid, ErrGone)
	}
	status := *(*int32)(unsafe.Pointer(uintptr(unsafe.Pointer(&info)) + stopSignal))
	if status>>8 != 0 { // an event: the stop that was asked for, or one of job control, which outlasts the detaching
		return 0, true, nil
	}
	return int(status & 0x7f), true, nil
}

func detach(tid, signal int) {
	_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(signal), 0, 0)
}

// Release lets a thread go on that stopped too late; done is false while it has not stopped yet.
func Release(pid, tid int) (done bool) {
	signal, done, err := pollStop(pid, tid)
	if done {
		detach(tid, signal)
	}
	return done || err != nil
}
