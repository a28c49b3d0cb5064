package collect

import (
	"bytes"
	"os"
	"strconv"
)

// ProcessStart is a process's start in clock ticks since boot (field 22 of /proc/PID/stat), "" when it is not to be had.
// With the pid it names a process for good.
func ProcessStart(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const start = 22 - 3 // fields counts from field 3
	if len(fields) <= start {
		return ""
	}
	return string(fields[start])
}
