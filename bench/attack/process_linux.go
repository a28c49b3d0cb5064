package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bounds of one command.
const (
	maxCPU    = 30 * time.Second // of its own time
	maxAsleep = 30 * time.Second // in which it does nothing
	maxWall   = 10 * time.Minute // at all: the machine may be so busy with other things that CPU time is slow to come
	maxRSS    = 1 << 30          // bytes, for inputs of at most maxInput
	endRSS    = 3 << 30          // a command that has grown so far is ended
	maxInput  = 100 << 20        // bytes, unpacked
	lookEvery = 50 * time.Millisecond
	maxOutput = 8 << 20 // kept of each stream
)

// ended is how a command went.
type ended struct {
	code           int
	signal         syscall.Signal
	stdout, stderr []byte
	cpu            time.Duration // user and system, with the children it waited for
	rss            int64         // bytes, the most that was seen of any one process
	rssAtMost      int64         // bytes, which it surely did not exceed
	hung           string        // why it was ended; "" it ended by itself
}

// limitedBuffer keeps the beginning of an output.
type limitedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := maxOutput - l.b.Len(); room > 0 {
		l.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// execution is one command to be run.
type execution struct {
	dir   string
	env   []string
	stdin *os.File
	args  []string
	// whenStarted, if set, is told the process as soon as it runs.
	whenStarted func(p *os.Process)
}

// start runs a command in a process group of its own until its end or until it breaks a bound.
func (a *attack) start(x execution) ended {
	cmd := exec.CommandContext(a.ctx, x.args[0], x.args[1:]...)
	cmd.Dir, cmd.Env = x.dir, x.env
	if x.stdin != nil {
		cmd.Stdin = x.stdin
	}
	var stdout, stderr limitedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return ended{code: -1, stderr: []byte(err.Error())}
	}
	if x.whenStarted != nil {
		x.whenStarted(cmd.Process)
	}
	done := make(chan struct{})
	watched := make(chan seen, 1)
	go func() { watched <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	saw := <-watched
	e := ended{hung: saw.hung, rss: saw.peak, stdout: stdout.b.Bytes(), stderr: stderr.b.Bytes()}
	if errors.Is(err, exec.ErrWaitDelay) && e.hung == "" {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	state := cmd.ProcessState
	e.code, e.cpu = state.ExitCode(), state.UserTime()+state.SystemTime()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		// A child begins in the harness's memory, whose peak the system counts for it: only what is beyond that is the child's own.
		if e.rssAtMost = usage.Maxrss << 10; e.rssAtMost > peak("self") {
			e.rss = e.rssAtMost
		}
	}
	return e
}

// seen is what was noticed of a process while it ran.
type seen struct {
	hung string // the bound that it broke; "" none
	peak int64  // bytes
}

// watch looks at a process until it ends, and ends it with its group when it breaks a bound.
func watch(pid int, done <-chan struct{}) (s seen) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	began := time.Now()
	worked, before := began, time.Duration(0)
	for {
		select {
		case <-done:
			return s
		case now := <-tick.C:
			cpu, rss := usage(pid)
			s.peak = max(s.peak, peak(strconv.Itoa(pid)))
			if cpu > before+50*time.Millisecond {
				worked, before = now, cpu
			}
			switch {
			case cpu > maxCPU:
				s.hung = fmt.Sprintf("%.0f s of CPU time and no end", cpu.Seconds())
			case now.Sub(worked) > maxAsleep:
				s.hung = fmt.Sprintf("asleep for %.0f s", now.Sub(worked).Seconds())
			case now.Sub(began) > maxWall:
				s.hung = fmt.Sprintf("no end after %.0f s", now.Sub(began).Seconds())
			case rss > endRSS:
				s.hung = fmt.Sprintf("%d MB and growing", rss>>20)
			}
			if s.hung != "" {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
				return s
			}
		}
	}
}

// peak reads how much memory a process has had at most; 0 where it has ended.
func peak(pid string) int64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(f[0], 10, 64)
	return kilobytes << 10
}

// usage reads a process's CPU time and memory; zeros where it has ended.
func usage(pid int) (time.Duration, int64) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	if len(f) < 22 {
		return 0, 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	pages, _ := strconv.ParseInt(f[21], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, pages * int64(os.Getpagesize())
}
