package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ring is how many times of steps counted.py keeps.
const ring = 1 << 16

// player is a program of the bench's own that runs only when it is its turn.
type player struct {
	cmd    *exec.Cmd
	marks  string
	stderr *os.File
	ended  chan error
	over   bool
}

// startPlayer starts a command that writes its steps to the file marks.
func startPlayer(command []string, marks string) (*player, error) {
	p := &player{cmd: exec.Command(command[0], command[1:]...), marks: marks, ended: make(chan error, 1)}
	var err error
	if p.stderr, err = os.Create(marks + ".stderr"); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.stderr
	p.cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.ended <- p.cmd.Wait() }()
	return p, nil
}

// await looks several times a second whether something has come to pass.
func (p *player) await(passed func() bool, limit time.Duration) error {
	for until := time.Now().Add(limit); time.Now().Before(until); {
		if passed() {
			return nil
		}
		select {
		case err := <-p.ended:
			p.over = true
			return fmt.Errorf("%s ended early: %v\n%s", strings.Join(p.cmd.Args, " "), err, p.words())
		case <-time.After(200 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: not ready after %v\n%s", strings.Join(p.cmd.Args, " "), limit, p.words())
}

// words is the end of what the program wrote to standard error.
func (p *player) words() string {
	text, _ := os.ReadFile(p.stderr.Name())
	return string(bytes.TrimSpace(text[max(0, len(text)-2000):]))
}

// pause stops the program and all that descends from it, parents first, so that none sees its child stop.
func (p *player) pause() error {
	stopped := map[int]bool{}
	for {
		found := false
		for _, pid := range p.tree() {
			if !stopped[pid] {
				stopped[pid], found = true, true
				if err := unix.Kill(pid, unix.SIGSTOP); err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("stopping process %d: %w", pid, err)
				}
			}
		}
		if !found {
			return nil
		}
	}
}

// resume lets it run again, children first.
func (p *player) resume() error {
	pids := p.tree()
	slices.Reverse(pids)
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGCONT); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("resuming process %d: %w", pid, err)
		}
	}
	return nil
}

// kill ends the program and all that descends from it.
func (p *player) kill() {
	for _, pid := range p.tree() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if !p.over {
		<-p.ended
	}
	p.stderr.Close()
}

// tree lists the program and its descendants, parents before children.
func (p *player) tree() []int {
	if p.over {
		return nil
	}
	children := map[int][]int{}
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) < 2 || err1 != nil {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	pids := []int{p.cmd.Process.Pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}

// used is the time that the program and its living descendants have had of the CPU, and their minor page faults: a program that
// gives its memory back and takes it again with each step makes many, and whether it does is chance.
func (p *player) used() (total time.Duration, faults int64) {
	for _, pid := range p.tree() {
		faults += minorFaults(pid)
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, path := range threads {
			text, err := os.ReadFile(path)
			if fields := strings.Fields(string(text)); err == nil && len(fields) > 0 {
				ran, _ := strconv.ParseInt(fields[0], 10, 64) // nanoseconds
				total += time.Duration(ran)
			}
		}
	}
	return total, faults
}

// minorFaults are the minor page faults of a process so far, of all its threads; 0 when it has ended (proc(5): stat).
func minorFaults(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 8 {
		return 0
	}
	faults, _ := strconv.ParseInt(fields[7], 10, 64)
	return faults
}

// steps is how many steps the program has made so far.
func (p *player) steps() int64 {
	numbers := p.numbers()
	if len(numbers) == 0 {
		return 0
	}
	return numbers[0]
}

// between gives the times of the steps from from to to (CLOCK_MONOTONIC nanoseconds), in order.
func (p *player) between(from, to int64) []int64 {
	numbers := p.numbers()
	if len(numbers) == 0 {
		return nil
	}
	times := slices.DeleteFunc(numbers[1:], func(t int64) bool { return t < from || t > to })
	slices.Sort(times)
	return times
}

// numbers reads the file of marks; nil while there is none.
func (p *player) numbers() []int64 {
	text, err := os.ReadFile(p.marks)
	if err != nil || len(text) < 8*(1+ring) {
		return nil
	}
	numbers := make([]int64, 1+ring)
	for i := range numbers {
		numbers[i] = int64(binary.LittleEndian.Uint64(text[8*i:]))
	}
	return numbers
}

// monotonic is the time of CLOCK_MONOTONIC in nanoseconds, as Python's time.monotonic_ns gives it.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// residentMemory is what a process occupies now, in bytes.
func residentMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm of process %d: %q", pid, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
