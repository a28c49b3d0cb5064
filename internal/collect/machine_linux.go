package collect

import (
	"bufio"
	"bytes"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"bottleneck/internal/record"
)

// readMachine fills m from the files of root (the machine's own, or a test's) and from system calls.
func readMachine(root fs.FS, m *record.Machine) {
	m.UnixNS = time.Now().UnixNano()
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.OS = "Linux " + unix.ByteSliceToString(name.Release[:]) + " " + unix.ByteSliceToString(name.Machine[:])
	}
	m.Affinity = affinity()
	m.SHMBytes, m.SHMFreeBytes = sharedMemory("/dev/shm")
	m.HugePages = hugePages(root)
	readProc(root, m)
	readCgroups(root, m)
}

func affinity() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var out []int
	for i := 0; i < 8*len(set)*8 && len(out) < set.Count(); i++ {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	return out
}

// sharedMemory gives the size of the file system that DataLoader workers hand tensors over in, and what is free of it.
func sharedMemory(path string) (size, free *int64) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Type != unix.TMPFS_MAGIC {
		return nil, nil
	}
	s, f := int64(st.Blocks)*st.Bsize, int64(st.Bavail)*st.Bsize
	return &s, &f
}

// hugePages says to whom the kernel gives huge pages by itself: the chosen one of the words there stands in brackets.
func hugePages(root fs.FS) string {
	text, err := fs.ReadFile(root, "sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "[")
	chosen, _, _ := strings.Cut(rest, "]")
	return chosen
}

// readProc takes the CPU's model and number, memory, and load from /proc.
func readProc(root fs.FS, m *record.Machine) {
	model, count := cpuInfo(root)
	m.CPUModel = model
	if count > 0 {
		m.CPUs = count
	}
	if kib, ok := field(root, "proc/meminfo", "MemTotal:"); ok {
		bytes := kib * 1024
		m.MemoryBytes = &bytes
	}
	m.LoadPerCore = loadPerCore(root, m.CPUs)
	if busy, ok := cpuBusy(root); ok {
		m.CPUBusyNS = &busy
	}
}

// cpuInfo is the first processor's model and the number of processors that are on line.
func cpuInfo(root fs.FS) (model string, count int) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return "", 0
	}
	scan := bufio.NewScanner(bytes.NewReader(text))
	for scan.Scan() {
		key, value, _ := strings.Cut(scan.Text(), ":")
		switch strings.TrimSpace(key) {
		case "processor":
			count++
		case "model name", "Model":
			if model == "" {
				model = strings.TrimSpace(value)
			}
		}
	}
	return model, count
}

// loadPerCore is how many other tasks wait for or use a core: the smaller of the number that run now and the mean of the
// last minute, so that neither a moment's burst nor a load that has gone counts.
func loadPerCore(root fs.FS, cpus int) *float64 {
	text, err := fs.ReadFile(root, "proc/loadavg")
	if err != nil || cpus < 1 {
		return nil
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return nil
	}
	minute, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return nil
	}
	running, _, _ := strings.Cut(fields[3], "/")
	now, err := strconv.ParseFloat(running, 64)
	if err != nil {
		return nil
	}
	load := max(0, min(minute, now-1)) / float64(cpus) // one of those that run reads this
	return &load
}

// cpuBusy is the CPU time in ns that anything on the machine has used since it was started: user, nice, system, irq,
// softirq and steal of /proc/stat, whose unit is 1/100 s on every Linux.
func cpuBusy(root fs.FS) (int64, bool) {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, false
	}
	var ticks int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	return ticks * 10_000_000, true
}

// field reads the number that follows name at the beginning of a line.
func field(root fs.FS, path, name string) (int64, bool) {
	text, err := fs.ReadFile(root, path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
