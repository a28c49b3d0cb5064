package cli

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestRunBusError ends a program by a bus error, as a write to mapped memory does that has no room in /dev/shm: the report says what
// that means, and the signal is passed on.
func TestRunBusError(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os, signal\nprint('ran', flush=True)\nos.kill(os.getpid(), signal.SIGBUS)\n")
	got := b.run("", "run", "--json", "report.json", "s.py")
	if got.signal != syscall.SIGBUS || got.stdout != "ran\n" {
		t.Errorf("%+v", got)
	}
	if notes := b.notes("report.json"); !slices.ContainsFunc(notes, func(n string) bool {
		return strings.Contains(n, "/dev/shm was full") && strings.Contains(n, "--shm-size")
	}) {
		t.Errorf("notes %q", notes)
	}
}
