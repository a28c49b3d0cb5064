package cli

import (
	"time"

	"bottleneck/internal/collect"
)

// restTime bounds the wait for processes that end after the program; daemons that it leaves behind cost this much.
const restTime = 250 * time.Millisecond

// awaitRest waits until the processes of this host that the agent rides in have ended, for what they write at their end
// belongs into the report: workers whose end nobody waited for, ranks of a launcher that was killed.
func awaitRest(dir, host string, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if !collect.AnyRuns(dir, host) {
			return
		}
	}
}
