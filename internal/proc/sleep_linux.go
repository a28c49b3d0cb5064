package proc

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps until a time of CLOCK_MONOTONIC in ns, or until a signal. It keeps the goroutine's processor of the Go
// runtime: handing it over and back wakes another thread each time, which at a high rate costs as much as the sleeper's
// work; so it is for sleeps of a few milliseconds only.
func SleepUntil(at int64) {
	ts := unix.NsecToTimespec(at)
	_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
