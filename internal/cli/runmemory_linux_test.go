package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// memoryGroup makes a control group whose processes may use so much memory together, as a container's do, and gives the file to
// write a process id to. Skips where the test may not make one, or where the kernel does not enforce it.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	dir, file := fmt.Sprintf("/sys/fs/cgroup/bottleneck-test-%d", os.Getpid()), "memory.max"
	if _, err := os.Stat("/sys/fs/cgroup/memory/memory.limit_in_bytes"); err == nil {
		dir, file = fmt.Sprintf("/sys/fs/cgroup/memory/bottleneck-test-%d", os.Getpid()), "memory.limit_in_bytes"
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("cannot make a control group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Log(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), fmt.Append(nil, limit), 0o644); err != nil {
		t.Skipf("cannot limit the memory of a control group: %v", err)
	}
	procs := filepath.Join(dir, "cgroup.procs")
	probe := exec.Command("sh", "-c", `echo $$ >"$1" && exec "$2" -c 'x = bytearray(b"x" * (1 << 30))'`, "sh", procs, python)
	_ = probe.Run()
	if ws, ok := probe.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Skip("the kernel does not enforce the memory limit of a control group")
	}
	return procs
}

// TestRunOutOfMemory has the kernel's out-of-memory killer end a program: the launcher, which is in the same control group,
// lives on, passes the signal on and reports what was measured and why it ended.
func TestRunOutOfMemory(t *testing.T) {
	b := newBench(t)
	procs := memoryGroup(t, 200<<20)
	b.file("s.py", `import os
def leak():
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))
total = sum(i * i for i in range(2_000_000))
os.write(1, b"leaking\n")
leak()
`)
	self := b.command().Path
	got := b.finish(b.exec("sh", "-c", `echo $$ >"$1" && shift && exec "$@"`, "sh", procs, self, "run", "--json", "report.json", "s.py"))
	if got.signal != syscall.SIGKILL || got.stdout != "leaking\n" {
		t.Errorf("%+v", got)
	}
	expect(t, "standard error", got.stderr, "bottleneck report ")
	notes := b.notes("report.json")
	says := func(note string) bool {
		return strings.HasPrefix(note, "memory ran out: the kernel killed the program (limit 0.195 GiB")
	}
	if !slices.ContainsFunc(notes, says) {
		t.Errorf("notes %q", notes)
	}
	again := b.run("", "report", "--json", "again.json", b.session())
	if again.code != 0 || withoutNext(t, b.read("again.json")) != withoutNext(t, b.read("report.json")) {
		t.Errorf("the report of the session differs: %+v", again)
	}
}
