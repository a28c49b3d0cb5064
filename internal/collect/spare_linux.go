package collect

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// SpareMemory is how many bytes a process of this machine can take now without taking them from others: what the system says is
// available, and what every control group around this process has left. 0 where that is not known.
func SpareMemory() int64 { return spareMemory(os.DirFS("/")) }

func spareMemory(root fs.FS) int64 {
	kib, ok := field(root, "proc/meminfo", "MemAvailable:")
	if !ok {
		return 0
	}
	spare := kib * 1024
	for _, dir := range cgroupDirs(root) {
		if dir.version != 2 && dir.controller != "memory" {
			continue
		}
		for p := dir.path; ; p = path.Dir(p) {
			if left, ok := leftOfGroup(root, p, dir.version); ok {
				spare = min(spare, left)
			}
			if p == dir.top || len(p) <= len(dir.top) {
				break
			}
		}
	}
	return max(spare, 1)
}

// leftOfGroup is what a control group's limit leaves. Files that were not used lately count as free: the system drops them first.
func leftOfGroup(root fs.FS, dir string, version int) (int64, bool) {
	limits, used, idle := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	if version == 1 {
		limits, used, idle = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	}
	taken, ok := numberIn(root, path.Join(dir, used))
	if !ok {
		return 0, false
	}
	files, _ := field(root, path.Join(dir, "memory.stat"), idle)
	left, found := int64(0), false
	for _, name := range limits {
		if limit, ok := numberIn(root, path.Join(dir, name)); ok && (!found || limit-taken+files < left) {
			left, found = limit-taken+files, true
		}
	}
	return left, found
}

// numberIn is the number that a file holds; false where it holds none, such as "max".
func numberIn(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
