package collect

import (
	"time"

	"golang.org/x/sys/unix"

	"bottleneck/internal/proc"
)

func clockOf(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}

// origin ties the runtime's clock, which is read without a system call, to CLOCK_MONOTONIC: both advance together.
var origin = struct {
	at   time.Time
	mono int64
}{time.Now(), clockOf(unix.CLOCK_MONOTONIC)}

// monotonic is CLOCK_MONOTONIC in ns.
func monotonic() int64 { return origin.mono + int64(time.Since(origin.at)) }

// sinceBoot is the time that start times of processes are given in.
func sinceBoot() time.Duration { return time.Duration(clockOf(unix.CLOCK_BOOTTIME)) }

// threadCPU is the CPU time of the calling thread in ns.
func threadCPU() int64 { return clockOf(unix.CLOCK_THREAD_CPUTIME_ID) }

// clockPair reads both clocks at one moment: of a few tries, the one during which the monotonic clock went on least.
func clockPair() (mono, unixNS int64) {
	best := int64(1) << 62
	for range 4 {
		a := monotonic()
		u := clockOf(unix.CLOCK_REALTIME)
		b := monotonic()
		if b-a < best {
			best, mono, unixNS = b-a, a+(b-a)/2, u
		}
	}
	return mono, unixNS
}

// shortSleep is the longest sleep that keeps its processor of the Go runtime.
const shortSleep = 5_000_000

// sleepUntil sleeps until a monotonic time and returns the time then. A brief sleep does not go through the runtime's timers, which
// would wake another thread. A longer one does: in a system call the runtime's watching thread would take the processor away, and
// be woken at the end, to look a thousand times a second, each time in the place of a thread of the program. Its end is brief again:
// the thread that the runtime wakes first takes the place of one of the program's, for which others then wait when stacks are read.
func sleepUntil(at int64) int64 {
	if left := at - monotonic(); left > shortSleep {
		time.Sleep(time.Duration(left - shortSleep/2))
	}
	proc.SleepUntil(at)
	return monotonic()
}
