//go:build linux

// Command readtrace reads traces through package ingest and prints what that cost: wall time, CPU time, peak memory.
// With -each every trace is dropped as soon as it is read, as for jobs of many ranks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

func main() {
	each := flag.Bool("each", false, "drop every trace as soon as it is read")
	lean := flag.Bool("lean", false, "leave out shapes and memory events")
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	var opt ingest.Options
	if *lean {
		opt.Skip = ingest.SkipShapes | ingest.SkipMemory
	}
	begin := time.Now()
	var events, traces atomic.Int64
	count := func(_ int, _ *model.Session, t *model.Trace) (func(), error) {
		events.Add(int64(t.Events.Len()))
		traces.Add(1)
		return nil, nil
	}
	var err error
	if *each {
		_, err = ingest.Each(context.Background(), flag.Args(), opt, count)
	} else {
		var s *model.Session
		if s, err = ingest.Open(context.Background(), flag.Args(), opt); err == nil {
			for _, t := range s.Traces {
				_, err = count(0, s, t)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	wall := time.Since(begin)
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d traces, %d events: %.3f s wall, %.3f s user, %.3f s system, %d MB peak\n", traces.Load(), events.Load(), wall.Seconds(),
		time.Duration(use.Utime.Nano()).Seconds(), time.Duration(use.Stime.Nano()).Seconds(), use.Maxrss>>10)
}
