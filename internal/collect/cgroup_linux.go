package collect

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"bottleneck/internal/record"
)

// cgroupDir is one directory, relative to the file system's root, that limits this process.
type cgroupDir struct {
	version    int
	controller string // of version 1
	path       string
	top        string // the mount point: the hierarchy's root as this process sees it
}

// readCgroups fills in the strictest CPU quota, the throttling and the memory limit of the groups that this process is in.
// Limits of every level count, because the kernel enforces all of them.
func readCgroups(root fs.FS, m *record.Machine) {
	for _, dir := range cgroupDirs(root) {
		own := true
		for p := dir.path; ; p = path.Dir(p) {
			if dir.version == 2 {
				readCgroup2(root, p, own, m)
			} else {
				readCgroup1(root, p, dir.controller, own, m)
			}
			own = false
			if p == dir.top || len(p) <= len(dir.top) {
				break
			}
		}
	}
}

// cgroupDirs joins what /proc/self/cgroup says of the process with where /proc/self/mountinfo says the hierarchies are
// mounted. In a container without a cgroup name space the path in the first is the host's, and the mount's root has to be
// taken off it.
func cgroupDirs(root fs.FS) []cgroupDir {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var out []cgroupDir
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			if parts[0] != "0" && controller != "cpu" && controller != "memory" {
				continue
			}
			if dir, ok := mountOf(string(mounts), parts[0] == "0", controller, parts[2]); ok {
				out = append(out, dir)
			}
		}
	}
	return out
}

// mountOf finds the mount of a hierarchy and the group's directory in it. Fields of mountinfo: id, parent, device, root,
// mount point, options, optional fields, "-", type, source, super options.
func mountOf(mounts string, unified bool, controller, group string) (cgroupDir, bool) {
	for line := range strings.Lines(mounts) {
		before, after, found := strings.Cut(strings.TrimSpace(line), " - ")
		fields, super := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 5 || len(super) < 3 {
			continue
		}
		if unified && super[0] != "cgroup2" {
			continue
		}
		if !unified && (super[0] != "cgroup" || !contains(strings.Split(super[2], ","), controller)) {
			continue
		}
		top := strings.TrimPrefix(path.Clean(fields[4]), "/")
		inside := strings.TrimPrefix(group, fields[3])
		if fields[3] == "/" {
			inside = group
		}
		if !strings.HasPrefix(group, fields[3]) || strings.Contains(inside, "..") {
			inside = ""
		}
		dir := cgroupDir{version: 1, controller: controller, top: top, path: path.Join(top, inside)}
		if unified {
			dir.version = 2
		}
		return dir, true
	}
	return cgroupDir{}, false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func readCgroup2(root fs.FS, dir string, own bool, m *record.Machine) {
	if text, err := fs.ReadFile(root, path.Join(dir, "cpu.max")); err == nil {
		quota, period, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		setQuota(m, 2, quota, period)
	}
	if usec, ok := field(root, path.Join(dir, "cpu.stat"), "throttled_usec"); ok {
		addThrottling(m, 2, usec*1000)
	}
	if text, err := fs.ReadFile(root, path.Join(dir, "memory.max")); err == nil {
		setMemory(m, string(text))
	}
	if n, ok := field(root, path.Join(dir, "memory.events"), "oom_kill"); ok && own {
		m.OOMKills = &n
	}
}

func readCgroup1(root fs.FS, dir, controller string, own bool, m *record.Machine) {
	if controller == "memory" {
		if text, err := fs.ReadFile(root, path.Join(dir, "memory.limit_in_bytes")); err == nil {
			setMemory(m, string(text))
		}
		if n, ok := field(root, path.Join(dir, "memory.oom_control"), "oom_kill"); ok && own {
			m.OOMKills = &n
		}
		return
	}
	quota, err := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us"))
	period, perr := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
	if err == nil && perr == nil {
		setQuota(m, 1, strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
	}
	if ns, ok := field(root, path.Join(dir, "cpu.stat"), "throttled_time"); ok {
		addThrottling(m, 1, ns)
	}
}

// setQuota keeps the strictest quota; "max" and -1 mean none.
func setQuota(m *record.Machine, version int, quota, period string) {
	m.CgroupVersion = version
	q, qerr := strconv.ParseFloat(quota, 64)
	p, perr := strconv.ParseFloat(period, 64)
	if qerr != nil || perr != nil || q <= 0 || p <= 0 {
		return
	}
	cores := q / p
	if m.CPUQuota == nil || cores < *m.CPUQuota {
		m.CPUQuota = &cores
	}
}

// addThrottling keeps the largest counter of the levels: throttling at an outer level stops the inner ones too, and one
// stop must not be counted twice.
func addThrottling(m *record.Machine, version int, ns int64) {
	m.CgroupVersion = version
	if m.ThrottledNS == nil || ns > *m.ThrottledNS {
		m.ThrottledNS = &ns
	}
}

// setMemory lowers the memory to the group's limit; values beyond the machine's mean none.
func setMemory(m *record.Machine, text string) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || m.MemoryBytes != nil && n >= *m.MemoryBytes {
		return
	}
	m.MemoryBytes = &n
}
