package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bottleneck/internal/record"
)

// AnyRuns says whether some process of the host in the session has not ended.
func AnyRuns(dir, host string) bool {
	_, folders, err := record.Folders(dir)
	if err != nil {
		return false
	}
	for _, folder := range folders {
		if !strings.HasPrefix(filepath.Base(folder), record.HostPrefix(host)) {
			continue
		}
		var process struct {
			PID    int
			Helper bool
			Exit   *struct{}
		}
		err := record.ReadJSONIn(folder, record.ProcessName, &process)
		if err == nil && process.Exit == nil && !process.Helper && runs(process.PID) {
			return true
		}
	}
	return false
}

// runs says whether a process exists that has not ended, as far as /proc tells: without it nothing does.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := strings.Cut(string(text), ") ")
	return found && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
