package collect

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"
)

// reaper collects orphans when the launcher is process 1 of a container; nobody else would.
type reaper struct {
	children chan os.Signal
	quit     chan struct{}
}

// startReaper starts collecting every ended child but program, whose status exec.Cmd waits for.
func startReaper(program int) *reaper {
	if os.Getpid() != 1 {
		return nil
	}
	r := &reaper{children: make(chan os.Signal, 1), quit: make(chan struct{})}
	signal.Notify(r.children, unix.SIGCHLD)
	go func() {
		for {
			select {
			case <-r.quit:
				return
			case <-r.children:
				reapOrphans("/proc", os.Getpid(), program)
			}
		}
	}()
	return r
}

func (r *reaper) stop() {
	if r == nil {
		return
	}
	signal.Stop(r.children)
	close(r.quit)
}

// reapOrphans waits for every zombie whose parent is self, except program. It looks for them by name instead of
// waiting for any child, which would take the program's own status away.
func reapOrphans(proc string, self, program int) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == program || pid == self {
			continue
		}
		if state, parent := stateAndParent(proc, pid); state == 'Z' && parent == self {
			var ws unix.WaitStatus
			_, _ = unix.Wait4(pid, &ws, unix.WNOHANG, nil)
		}
	}
}

// stateAndParent reads fields 3 and 4 of stat, which follow the command's name in parentheses.
func stateAndParent(proc string, pid int) (state byte, parent int) {
	text, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	_, rest, found := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(") "))
	fields := bytes.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}
