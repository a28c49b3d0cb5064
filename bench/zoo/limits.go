package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"bottleneck/bench/timed"
)

// quotaGroup is the control group in which a quota is tested, below the folder of the version in use.
const quotaGroup = "bottleneck-zoo"

// quotaDir is the folder of the control group that can hold a CPU quota; v2 says that its files are those of version 2.
func quotaDir() (dir string, v2 bool) {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return filepath.Join("/sys/fs/cgroup", quotaGroup), true
	}
	return filepath.Join("/sys/fs/cgroup/cpu", quotaGroup), false
}

// quotaUnable says why no quota can be set here, "" where one can.
func quotaUnable() string {
	if err := setQuota(1); err != nil {
		return "no CPU quota can be set here: " + err.Error()
	}
	dir, _ := quotaDir()
	os.Remove(dir)
	return ""
}

// setQuota makes the group with a quota in cores.
func setQuota(cores float64) error {
	dir, v2 := quotaDir()
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	const period = 100_000 // µs, the kernel's default
	if v2 {
		return os.WriteFile(filepath.Join(dir, "cpu.max"), fmt.Appendf(nil, "%d %d", int(cores*period), period), 0o644)
	}
	if err := os.WriteFile(filepath.Join(dir, "cpu.cfs_period_us"), []byte(strconv.Itoa(period)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte(strconv.Itoa(int(cores*period))), 0o644)
}

// shmUnable says why no small /dev/shm can be mounted here for one command, "" where one can.
func shmUnable() string {
	if out, err := exec.Command("unshare", withSHM(1, []string{"true"})[1:]...).CombinedOutput(); err != nil {
		return fmt.Sprintf("no small /dev/shm can be mounted here: %v: %s", err, timed.LastLines(string(out), 1))
	}
	return ""
}

// withSHM starts a command in a mount namespace of its own, in which /dev/shm holds so many MiB; nothing of it is seen outside.
func withSHM(mib int, command []string) []string {
	mount := fmt.Sprintf(`mount -t tmpfs -o size=%dm tmpfs /dev/shm && exec "$@"`, mib)
	return append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh"}, command...)
}

// limited puts a command under the case's limits; those that are not the machine's own are of the slow side only.
func limited(e *expect, variant string, command []string) ([]string, error) {
	if e.SHM > 0 {
		command = withSHM(e.SHM, command)
	}
	if variant != "slow" {
		return command, nil
	}
	if e.Affinity > 0 {
		command = append([]string{"taskset", "-c", fmt.Sprintf("0-%d", e.Affinity-1)}, command...)
	}
	if e.Quota > 0 {
		if err := setQuota(e.Quota); err != nil {
			return nil, fmt.Errorf("set the CPU quota: %w", err)
		}
		dir, _ := quotaDir()
		command = append([]string{"sh", "-c", fmt.Sprintf(`echo $$ >%s/cgroup.procs && exec "$@"`, dir), "sh"}, command...)
	}
	return command, nil
}

// lift removes what limited set.
func lift(e *expect) {
	if e.Quota > 0 {
		dir, _ := quotaDir()
		os.Remove(dir)
	}
}
