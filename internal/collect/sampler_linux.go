package collect

import "golang.org/x/sys/unix"

func clockOf(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}

// monotonic is CLOCK_MONOTONIC in ns.
func monotonic() int64 { return clockOf(unix.CLOCK_MONOTONIC) }

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

// sleepUntil sleeps until a monotonic time and returns the time then. It does not go through the runtime's timers,
// which would wake a second thread.
func sleepUntil(at int64) int64 {
	ts := unix.NsecToTimespec(at)
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
	return monotonic()
}
