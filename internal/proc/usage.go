package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Usage is what a process holds and has used since its start, all threads together. Memory is in bytes.
type Usage struct {
	Anonymous, File, Shared int64 // resident: private, of files, shared (between processes, and /dev/shm)
	Swapped                 int64
	MinorFaults             int64 // pages given without reading
	MajorFaults             int64 // pages that had to be read
	User, System            time.Duration
	ReadBytes, WrittenBytes int64 // from and to disks; -1 unknown, because only the owner may see it
	First                   ThreadUse
}

// ThreadUse is what the first thread of a process, which is the main one of Python, has used since its start.
type ThreadUse struct {
	MinorFaults   int64
	User, System  time.Duration
	Waits, Pushed int64 // times that it left its core: to wait for something, and because others were to have it
}

// tick is the kernel's unit of CPU time for programs (USER_HZ), the same wherever bottleneck runs.
const tick = 10 * time.Millisecond

// ReadUsage reads /proc/PID/stat, status and io. It stops nothing and takes no lock of the process's memory.
func ReadUsage(pid int) (Usage, error) {
	buf := make([]byte, 16<<10)
	text, err := readSmall(fmt.Sprintf("/proc/%d/stat", pid), buf)
	if err != nil {
		return Usage{}, openError(pid, "stat", err)
	}
	st, ok := parseStat(text)
	if !ok {
		return Usage{}, fmt.Errorf("/proc/%d/stat: not in the kernel's format", pid)
	}
	u := Usage{MinorFaults: st.MinorFaults, MajorFaults: st.MajorFaults,
		User: time.Duration(st.UserTicks) * tick, System: time.Duration(st.SysTicks) * tick, ReadBytes: -1, WrittenBytes: -1}
	if text, err = readSmall(fmt.Sprintf("/proc/%d/status", pid), buf); err != nil {
		return Usage{}, openError(pid, "status", err)
	}
	eachNumber(text, map[string]*int64{"voluntary_ctxt_switches": &u.First.Waits, "nonvoluntary_ctxt_switches": &u.First.Pushed}, 1)
	eachNumber(text, map[string]*int64{"RssAnon": &u.Anonymous, "RssFile": &u.File, "RssShmem": &u.Shared, "VmSwap": &u.Swapped}, 1024)
	if text, err = readSmall(fmt.Sprintf("/proc/%d/io", pid), buf); err == nil {
		eachNumber(text, map[string]*int64{"read_bytes": &u.ReadBytes, "write_bytes": &u.WrittenBytes}, 1)
	}
	if text, err = readSmall(fmt.Sprintf("/proc/%d/task/%d/stat", pid, pid), buf); err != nil {
		return Usage{}, openError(pid, "task", err)
	}
	if st, ok = parseStat(text); !ok {
		return Usage{}, fmt.Errorf("/proc/%d/task/%d/stat: not in the kernel's format", pid, pid)
	}
	u.First.MinorFaults, u.First.User, u.First.System = st.MinorFaults, time.Duration(st.UserTicks)*tick, time.Duration(st.SysTicks)*tick
	return u, nil
}

// Owned is how much of a process's memory is its own, in bytes: Private pages that no other process has, and all pages divided by how many
// processes have each.
type Owned struct{ Private, Proportional int64 }

// ReadOwned reads /proc/PID/smaps_rollup (Linux 4.14 and later). The kernel walks all pages for it: 12 ms for a
// gigabyte of small pages on a server of 2026.
func ReadOwned(pid int) (Owned, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return Owned{}, openError(pid, "smaps_rollup", err)
	}
	var o Owned
	eachNumber(text, map[string]*int64{"Private_Dirty": &o.Private, "Pss": &o.Proportional}, 1024)
	return o, nil
}

// eachNumber reads "Name: number [kB]" lines.
func eachNumber(text []byte, into map[string]*int64, unit int64) {
	for line := range bytes.Lines(text) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		to := into[string(name)]
		if to == nil {
			continue
		}
		number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
			*to = n * unit
		}
	}
}
