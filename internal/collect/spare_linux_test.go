package collect

import "testing"

// TestSpareMemory takes the least of what the machine has and what each group around the process has left.
func TestSpareMemory(t *testing.T) {
	group2 := map[string]string{
		"proc/self/cgroup": "0::/pod/train\n", "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/meminfo": "MemAvailable: 8000 kB\n",
	}
	group1 := map[string]string{"proc/self/cgroup": "4:memory:/docker/abc\n",
		"proc/self/mountinfo": "41 30 0:34 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
		"proc/meminfo":        "MemAvailable: 8000 kB\n"}
	for _, c := range []struct {
		name  string
		base  map[string]string
		files map[string]string
		want  int64
	}{
		{"no limit", group2, map[string]string{"sys/fs/cgroup/pod/train/memory.max": "max\n",
			"sys/fs/cgroup/pod/train/memory.current": "5000\n"}, 8000 * 1024},
		{"the outer group's", group2, map[string]string{"sys/fs/cgroup/pod/train/memory.max": "900000\n",
			"sys/fs/cgroup/pod/train/memory.current": "100000\n", "sys/fs/cgroup/pod/memory.max": "1000000\n",
			"sys/fs/cgroup/pod/memory.current": "700000\n", "sys/fs/cgroup/pod/memory.stat": "file 9\ninactive_file 50000\n"}, 350000},
		{"held back earlier", group2, map[string]string{"sys/fs/cgroup/pod/train/memory.max": "900000\n",
			"sys/fs/cgroup/pod/train/memory.high": "150000\n", "sys/fs/cgroup/pod/train/memory.current": "100000\n"}, 50000},
		{"used up", group2, map[string]string{"sys/fs/cgroup/pod/train/memory.max": "900000\n",
			"sys/fs/cgroup/pod/train/memory.current": "900001\n"}, 1},
		{"version 1", group1, map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "600000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "400000\n",
			"sys/fs/cgroup/memory/memory.stat":           "inactive_file 1\ntotal_inactive_file 30000\n"}, 230000},
		{"unknown", nil, nil, 0},
	} {
		texts := map[string]string{}
		for _, m := range []map[string]string{c.base, c.files} {
			for name, text := range m {
				texts[name] = text
			}
		}
		if got := spareMemory(files(texts)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
