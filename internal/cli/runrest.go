package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bottleneck/internal/record"
)

// restTime bounds the wait for processes that end after the program; daemons that it leaves behind cost this much.
const restTime = 250 * time.Millisecond

// awaitRest waits until the processes of this host that the agent rides in have ended, for what they write at their end
// belongs into the report: workers whose end nobody waited for, ranks of a launcher that was killed.
func awaitRest(dir, host string, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if !anyRuns(dir, host) {
			return
		}
	}
}

// anyRuns says whether some process of the host in the session has not ended.
func anyRuns(dir, host string) bool {
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
		text, err := os.ReadFile(filepath.Join(folder, record.ProcessName))
		if err == nil && json.Unmarshal(text, &process) == nil && process.Exit == nil && !process.Helper && runs(process.PID) {
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
