package collect

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bottleneck/internal/record"
)

func files(texts map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range texts {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// A container with cgroup version 2: limits of every level count, and the outer one is the smaller here.
func TestCgroup2(t *testing.T) {
	root := files(map[string]string{
		"proc/self/cgroup":                      "0::/pod/train\n",
		"proc/self/mountinfo":                   "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/pod/cpu.max":             "150000 100000\n",
		"sys/fs/cgroup/pod/cpu.stat":            "usage_usec 9\nnr_throttled 4\nthrottled_usec 2500000\n",
		"sys/fs/cgroup/pod/train/cpu.max":       "400000 100000\n",
		"sys/fs/cgroup/pod/train/cpu.stat":      "throttled_usec 1000\n",
		"sys/fs/cgroup/pod/train/memory.max":    "max\n",
		"sys/fs/cgroup/pod/memory.max":          "1073741824\n",
		"sys/fs/cgroup/pod/train/memory.events": "low 0\noom 2\noom_kill 1\n",
		"proc/meminfo":                          "MemTotal:       16000000 kB\nMemFree: 1 kB\n",
		"proc/loadavg":                          "3.00 1.00 1.00 5/800 12345\n",
		"proc/cpuinfo":                          "processor\t: 0\nmodel name\t: Fast 9000\nprocessor\t: 1\nmodel name\t: Fast 9000\n",
		"proc/stat":                             "cpu  100 10 50 1000 7 1 2 3 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
	})
	m := &record.Machine{}
	readProc(root, m)
	readCgroups(root, m)
	if m.CPUQuota == nil || *m.CPUQuota != 1.5 {
		t.Errorf("quota %v, want the outer 1.5", m.CPUQuota)
	}
	if m.ThrottledNS == nil || *m.ThrottledNS != 2_500_000_000 || m.CgroupVersion != 2 {
		t.Errorf("throttled %v, version %d", m.ThrottledNS, m.CgroupVersion)
	}
	if m.MemoryBytes == nil || *m.MemoryBytes != 1<<30 {
		t.Errorf("memory %v, want the group's 1 GiB", m.MemoryBytes)
	}
	if m.OOMKills == nil || *m.OOMKills != 1 {
		t.Errorf("kills %v", m.OOMKills)
	}
	if m.CPUs != 2 || m.CPUModel != "Fast 9000" {
		t.Errorf("cpus %d %q", m.CPUs, m.CPUModel)
	}
	if m.LoadPerCore == nil || *m.LoadPerCore != 1.5 { // the smaller of 3.00 and 5 − 1, over 2 cores
		t.Errorf("load %v", m.LoadPerCore)
	}
	if m.CPUBusyNS == nil || *m.CPUBusyNS != (100+10+50+1+2+3)*10_000_000 {
		t.Errorf("busy %v", m.CPUBusyNS)
	}
}

// Docker with version 1: the process's path is the host's, of which the mount shows a part.
func TestCgroup1(t *testing.T) {
	root := files(map[string]string{
		"proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/docker/abc\n",
		"proc/self/mountinfo": "40 30 0:33 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
			"41 30 0:34 /docker/abc /sys/fs/cgroup/memory ro shared:9 - cgroup cgroup rw,memory\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "50000\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "nr_periods 5\nnr_throttled 1\nthrottled_time 777\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":  "536870912\n",
		"proc/meminfo": "MemTotal: 16000000 kB\n",
	})
	m := &record.Machine{}
	readProc(root, m)
	readCgroups(root, m)
	if m.CPUQuota == nil || *m.CPUQuota != 0.5 || m.ThrottledNS == nil || *m.ThrottledNS != 777 || m.CgroupVersion != 1 {
		t.Errorf("quota %v, throttled %v, version %d", m.CPUQuota, m.ThrottledNS, m.CgroupVersion)
	}
	if m.MemoryBytes == nil || *m.MemoryBytes != 512<<20 {
		t.Errorf("memory %v", m.MemoryBytes)
	}
}

// What is not limited or not there stays unknown, and rubbish is no panic.
func TestCgroupUnknown(t *testing.T) {
	for name, texts := range map[string]map[string]string{
		"nothing": {},
		"unlimited": {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n",
			"sys/fs/cgroup/cpu.max": "max 100000\n"},
		"rubbish": {
			"proc/self/cgroup":      ":::\n0::../../x\n\x00",
			"proc/self/mountinfo":   "- - -\n1 2 3 4 - cgroup2\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n",
			"sys/fs/cgroup/cpu.max": "x", "proc/stat": "cpu a b c d e f g h", "proc/loadavg": "x", "proc/meminfo": "MemTotal:",
		},
	} {
		m := &record.Machine{CPUs: 1}
		readProc(files(texts), m)
		readCgroups(files(texts), m)
		if m.CPUQuota != nil || m.MemoryBytes != nil || m.CPUBusyNS != nil || m.LoadPerCore != nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// The real machine answers, and its figures make sense.
func TestReadMachine(t *testing.T) {
	t.Setenv("OMP_NUM_THREADS", "3")
	m := ReadMachine()
	if m.CPUs < 1 || len(m.Affinity) < 1 || len(m.Affinity) > m.CPUs || m.MemoryBytes == nil || *m.MemoryBytes < 1<<20 ||
		!strings.HasPrefix(m.OS, "Linux ") {
		t.Errorf("%+v", m)
	}
	if m.ThreadSettings["OMP_NUM_THREADS"] != "3" {
		t.Errorf("thread settings %v", m.ThreadSettings)
	}
}

func TestParseGPUs(t *testing.T) {
	text := "0, NVIDIA H100 80GB HBM3, 81559, 1024, 345, 1980, P0, 12, GPU-a\n1, \"Odd, name\", [N/A], [N/A], [N/A], [N/A], [N/A], " +
		"[N/A], GPU-b\nbroken line\n"
	gpus, uuids := parseGPUs(strings.NewReader(text))
	if len(gpus) != 2 {
		t.Fatalf("%+v", gpus)
	}
	g := gpus[0]
	if g.Name != "NVIDIA H100 80GB HBM3" || g.MemoryBytes != 81559<<20 || g.MemoryUsed != 1<<30 || *g.ClockMHz != 345 ||
		*g.MaxClockMHz != 1980 || *g.Utilisation != 0.12 || g.PowerState != "P0" {
		t.Errorf("%+v", g)
	}
	if g := gpus[1]; g.Index != 1 || g.Name != "Odd, name" || g.ClockMHz != nil || g.Utilisation != nil {
		t.Errorf("%+v", g)
	}
	if Shared(gpus) {
		t.Error("nobody was seen on the devices")
	}
	addUsers(gpus, uuids, strings.NewReader("GPU-b, 4711\nGPU-c, 12\nGPU-b, [N/A]\nGPU-b, 4712\n"))
	if !Shared(gpus) || gpus[0].Processes != nil || !slices.Equal(gpus[1].Processes, []int{4711, 4712}) {
		t.Errorf("%+v", gpus)
	}
}

func TestHugePages(t *testing.T) {
	const file = "sys/kernel/mm/transparent_hugepage/enabled"
	for text, want := range map[string]string{"always [madvise] never\n": "madvise", "[always] madvise never\n": "always", "": ""} {
		if got := hugePages(files(map[string]string{file: text})); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := hugePages(files(nil)); got != "" {
		t.Errorf("no file: %q", got)
	}
}
