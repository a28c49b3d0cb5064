//go:build unix

package collect

import "golang.org/x/sys/unix"

// OwnCost is the CPU time in ns and the peak memory in bytes of this process so far.
func OwnCost() (cpuNS, peakRSS int64) {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0, 0
	}
	return ru.Utime.Nano() + ru.Stime.Nano(), int64(ru.Maxrss) * rusageUnit
}
