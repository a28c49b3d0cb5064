package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bottleneck/internal/record"
)

// stoppedPrograms are programs under --native=stop, which traces what the launcher has started itself: a stop is no end.
var stoppedPrograms = map[string]struct {
	text   string
	code   int
	signal syscall.Signal
}{
	"sleeps": {text: "import time\ntime.sleep(1)\nprint('over', flush=True)\nraise SystemExit(7)\n", code: 7},
	"threads": {code: 7, text: `import threading
def work():
    for _ in range(60): sum(range(100000))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print('over', flush=True)
raise SystemExit(7)
`},
	"children": {code: 7, text: `import subprocess, sys
busy = "import sys\nfor _ in range(60): sum(range(100000))\nsys.exit(9)"
ends = [c.wait() for c in [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(3)]]
print('over' if ends == [9] * 3 else ends, flush=True)
raise SystemExit(7)
`},
	"a signal of its own": {code: -1, signal: syscall.SIGTERM, text: `import os, signal
for _ in range(60): sum(range(100000))
print('over', flush=True)
os.kill(os.getpid(), signal.SIGTERM)
`},
	"becomes another program": {code: 7, text: `import os, sys
for _ in range(60): sum(range(100000))
os.execv(sys.executable, [sys.executable, "-c", "for _ in range(60): sum(range(100000))\nprint('over', flush=True)\nraise SystemExit(7)"])
`},
}

// The launcher waits for a program that it stops for moments as it does for any other.
func TestNativeStopWaitsForTheProgram(t *testing.T) {
	for name, c := range stoppedPrograms {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file("s.py", c.text)
			got := b.run("", "run", "--native=stop", "--rate", "500", "--", python, "s.py")
			if got.code != c.code || got.signal != c.signal || got.stdout != "over\n" {
				t.Errorf("got %+v", got)
			}
			b.endedAndSampled()
		})
	}
}

// endedAndSampled fails the test unless the session has the program's end, and stacks where the system lets us take them.
func (b *bench) endedAndSampled() {
	b.t.Helper()
	l := b.launcher()
	if l.Exit == nil || l.Exit.Code < 0 {
		b.t.Errorf("the end is noted as %+v", l.Exit)
	}
	if hasNote(l, "no-samples") || hasNote(l, "not-sampled") {
		b.t.Logf("not sampled here: %+v", l.Notes)
	}
}

// Job control goes on while the sampler stops and releases threads: what somebody stops stays stopped until it is continued, and the
// launcher waits for it.
func TestNativeStopUnderJobControl(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import os, sys, threading
sys.stdout.write("%d\n" % os.getpid()); sys.stdout.flush()
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), over.set())).start()
while not over.is_set(): sum(range(10000))
raise SystemExit(7)
`)
	cmd, stdin, stdout, stderr := b.startPiped("run", "--native=stop", "--rate", "500", "s.py")
	var pid int
	if _, err := fmt.Sscan(awaitLine(t, stdout, ""), &pid); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		awaitState(t, pid, "T")
		_ = syscall.Kill(pid, syscall.SIGCONT)
		awaitState(t, pid, "R", "S", "D")
	}
	_, _ = stdin.Write([]byte("\n"))
	awaitLine(t, stderr, "bottleneck report ")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("status %d, want 7", code)
	}
	if l, err := record.ReadLauncher(b.launcherFolder()); err != nil || l.Exit == nil || l.Exit.Code != 7 {
		t.Errorf("the end is noted as %+v (%v)", l, err)
	}
}

// awaitState waits until a process is in one of the given states of /proc.
func awaitState(t *testing.T, pid int, states ...string) {
	t.Helper()
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, found := strings.Cut(string(text), ") ")
		if err != nil || !found {
			t.Fatalf("process %d has gone: %v", pid, err)
		}
		if slices.Contains(states, state[:1]) {
			return
		}
	}
	t.Fatalf("process %d is in none of the states %q", pid, states)
}
