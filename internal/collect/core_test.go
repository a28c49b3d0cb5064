package collect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// crash aborts below three functions, beside a thread that waits for it.
const crash = `
import os, resource, threading
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
up = threading.Event()
def waiter():
    up.set()
    threading.Event().wait()
threading.Thread(target=waiter, daemon=True, name="the waiter").start()
up.wait()
def inner(answer):
    os.abort()
def outer():
    inner(42)
outer()
`

// TestDumpCore lets each interpreter crash and reads the core that the kernel writes, without the process.
func TestDumpCore(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.HasPrefix(string(pattern), "|") || strings.ContainsRune(string(pattern), '/') {
		t.Skipf("the kernel hands cores to another program or folder: %s", pattern)
	}
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			root := filepath.Join(filepath.Dir(filepath.Dir(python)), "root") // of a Python in a folder of its own
			if _, err := os.Stat(root); err != nil {
				root = ""
			}
			cmd := exec.Command(python, "-c", crash)
			cmd.Dir = dir
			if err := cmd.Run(); err == nil {
				t.Fatal("the program did not abort")
			}
			cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
			if len(cores) != 1 {
				t.Skipf("the kernel wrote no core into the working directory (limit of the session?): %v", cores)
			}
			d, err := DumpCore(cores[0], root, true)
			if err != nil {
				t.Fatal(err)
			}
			number, _, _ := strings.Cut(strings.TrimSuffix(version, "t"), "-")
			if d.PID != cmd.Process.Pid || !strings.HasPrefix(d.Python, number) || len(d.Threads) != 2 {
				t.Fatalf("%+v", d)
			}
			main := d.Threads[0]
			locks := !strings.HasSuffix(version, "t") // else there is no lock to hold
			if main.TID != d.PID || main.Name != "MainThread" || main.HoldsGIL != locks || len(main.Frames) != 3 ||
				main.Frames[0].Function != "inner" || main.Frames[0].Line != 11 || main.Frames[0].Locals[0].Value != "42" ||
				main.Frames[2].Line != 14 {
				t.Errorf("main thread %+v", main)
			}
			other := d.Threads[1]
			if last := len(other.Frames) - 1; other.Name != "the waiter" || other.HoldsGIL || other.TID == d.PID ||
				other.TID == 0 || last < 3 {
				t.Errorf("second thread %+v", other)
			}
		})
	}
}
