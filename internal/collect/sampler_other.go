//go:build !linux

package collect

import "time"

var began = time.Now()

func monotonic() int64 { return int64(time.Since(began)) }

func sinceBoot() time.Duration { return time.Duration(monotonic()) }

func threadCPU() int64 { return 0 }

func clockPair() (mono, unixNS int64) { return monotonic(), time.Now().UnixNano() }

func sleepUntil(at int64) int64 {
	time.Sleep(time.Duration(at - monotonic()))
	return monotonic()
}
