package proc

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// Limits of what is read of a process's own texts: both come from the program and may be of any size.
const (
	maxArgs    = 64 << 10
	maxEnviron = 1 << 20
)

// Stat is the identity of a process: a PID is reused, a PID with its start time is not.
type Stat struct {
	PID, PPID  int
	Comm       string
	State      byte  // R, S, D, Z, …
	Session    int   // session id
	StartTicks int64 // since boot
	// MinorFaults and MajorFaults are pages given, and pages read, since the start.
	MinorFaults, MajorFaults int64
	UserTicks                int64 // CPU time in clock ticks, all threads
	SysTicks                 int64
	Threads                  int
	RSSPages                 int64
}

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, openError(pid, "stat", err)
	}
	s, ok := parseStat(b)
	if !ok {
		return Stat{}, fmt.Errorf("/proc/%d/stat: not in the kernel's format", pid)
	}
	return s, nil
}

// parseStat reads a stat line; the name in parentheses may hold spaces and parentheses itself.
func parseStat(b []byte) (Stat, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return Stat{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:open])))
	if err != nil || len(f) < 22 {
		return Stat{}, false
	}
	num := func(i int) int64 { v, _ := strconv.ParseInt(f[i], 10, 64); return v }
	return Stat{PID: pid, Comm: string(b[open+1 : end]), State: f[0][0], PPID: int(num(1)), Session: int(num(3)),
		MinorFaults: num(7), MajorFaults: num(9), UserTicks: num(11), SysTicks: num(12), Threads: int(num(17)), StartTicks: num(19),
		RSSPages: num(21)}, true
}

// PIDs lists the processes there are now, into buf.
func PIDs(buf []int) ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return numbers(names, buf), nil
}

// LastPID is the number that the kernel gave last in this PID namespace, to a process or a thread: as long as it stays,
// there are no new ones.
func LastPID() (int, bool) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(b))
	if len(f) < 5 {
		return 0, false
	}
	pid, err := strconv.Atoi(f[4])
	return pid, err == nil
}

// Threads lists the native thread ids of a process.
func Threads(pid int) ([]int, error) {
	d, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, openError(pid, "task", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, openError(pid, "task", err)
	}
	return numbers(names, nil), nil
}

func numbers(names []string, buf []int) []int {
	out := buf[:0]
	for _, n := range names {
		if n[0] < '0' || n[0] > '9' {
			continue
		}
		if v, err := strconv.Atoi(n); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Args are the arguments of a process; empty for kernel threads and zombies.
func Args(pid int) ([]string, error) {
	b, err := readLimited(fmt.Sprintf("/proc/%d/cmdline", pid), maxArgs)
	if err != nil {
		return nil, openError(pid, "cmdline", err)
	}
	return splitNul(b), nil
}

// Environ looks variables up in the environment that a process was started with.
func Environ(pid int, names ...string) (map[string]string, error) {
	b, err := readLimited(fmt.Sprintf("/proc/%d/environ", pid), maxEnviron)
	if err != nil {
		return nil, openError(pid, "environ", err)
	}
	out := map[string]string{}
	for _, kv := range splitNul(b) {
		k, v, ok := strings.Cut(kv, "=")
		for _, n := range names {
			if ok && k == n {
				out[k] = v
			}
		}
	}
	return out, nil
}

// Exe is the path of the executable, as the process names it; "(deleted)" is cut off.
func Exe(pid int) (string, error) {
	p, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "", openError(pid, "exe", err)
	}
	return strings.TrimSuffix(p, " (deleted)"), nil
}

// ProgramMark is a number that is another one when the process runs another program, or the same again: a digest of what the
// kernel handed to it at its start, which holds random addresses. 0 where it cannot be read.
func ProgramMark(pid int) uint64 {
	b, err := readLimited(fmt.Sprintf("/proc/%d/auxv", pid), 4096)
	if err != nil || len(b) == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// ThreadName is the kernel's name of a thread, at most 15 bytes.
func ThreadName(pid, tid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

// InnerPID is the process's id in its own (innermost) PID namespace, where that differs.
func InnerPID(pid int) int { return innerID(fmt.Sprintf("/proc/%d/status", pid), pid) }

func innerID(status string, id int) int {
	b, err := os.ReadFile(status)
	if err != nil {
		return id
	}
	for _, line := range strings.Split(string(b), "\n") {
		rest, ok := strings.CutPrefix(line, "NSpid:")
		if f := strings.Fields(rest); ok && len(f) > 0 {
			if v, err := strconv.Atoi(f[len(f)-1]); err == nil {
				return v
			}
		}
	}
	return id
}

func splitNul(b []byte) []string {
	var out []string
	for _, part := range bytes.Split(bytes.TrimRight(b, "\x00"), []byte{0}) {
		out = append(out, string(part))
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}

func readLimited(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, 0, 4096)
	for len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):min(cap(buf), limit)])
		buf = buf[:len(buf)+n]
		if n == 0 || err != nil {
			break
		}
	}
	return buf, nil
}

// InnerThread is a thread's id in its own (innermost) PID namespace.
func InnerThread(pid, tid int) int {
	return innerID(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid), tid)
}
