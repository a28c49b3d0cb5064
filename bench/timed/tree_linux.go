package timed

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"bottleneck/internal/proc"
)

const canPause = true

// Pause stops a process and all that descends from it, parents first, so that none sees its child stop.
func Pause(pid int) error {
	stopped := map[int]bool{}
	for {
		found := false
		for _, p := range Tree(pid) {
			if !stopped[p] {
				stopped[p], found = true, true
				if err := unix.Kill(p, unix.SIGSTOP); err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("stopping process %d: %w", p, err)
				}
			}
		}
		if !found {
			return nil
		}
	}
}

// Resume lets them run again, children first.
func Resume(pid int) error {
	pids := Tree(pid)
	slices.Reverse(pids)
	for _, p := range pids {
		if err := unix.Kill(p, unix.SIGCONT); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("resuming process %d: %w", p, err)
		}
	}
	return nil
}

// Tree lists a process and its descendants, parents before children.
func Tree(pid int) []int {
	all, err := proc.PIDs(nil)
	if err != nil {
		return []int{pid}
	}
	children := map[int][]int{}
	for _, p := range all {
		if stat, err := proc.ReadStat(p); err == nil { // else it has ended meanwhile
			children[stat.PPID] = append(children[stat.PPID], p)
		}
	}
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}
