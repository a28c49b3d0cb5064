package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDumpCoreRefused refuses what is no core, by what it is, and PIDs beside a core.
func TestDumpCoreRefused(t *testing.T) {
	b := newBench(t)
	text := b.file("text", "no core")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"dump", "--core", text}, 3, "not a 64-bit ELF core file"},
		{[]string{"dump", "--core", text + "-missing"}, 3, "no such file"},
		{[]string{"dump", "--core", text, "42"}, 2, "not both"},
		{[]string{"dump"}, 2, "PID is missing"},
	} {
		got := b.run("", c.args...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}

// TestDumpTasks prints what asyncio's tasks await, of a program that has ended in one.
func TestDumpTasks(t *testing.T) {
	b := newBench(t)
	program := b.file("tasks.py", `import asyncio, os, sys
async def inner():
    await asyncio.sleep(1000)
async def outer():
    await inner()
async def main():
    task = asyncio.ensure_future(outer())
    await asyncio.sleep(0)
    os.abort()
import resource
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
asyncio.run(main())
`)
	cmd := exec.Command(python, program)
	cmd.Dir = b.dir
	if err := cmd.Run(); err == nil {
		t.Fatal("the program did not abort")
	}
	cores, _ := filepath.Glob(filepath.Join(b.dir, "core*"))
	if len(cores) != 1 {
		t.Skipf("the kernel wrote no core into the working directory (core_pattern, limits): %v", cores)
	}
	got := b.run("", "dump", "--core", cores[0])
	for _, want := range []string{"inner (" + program + ":3)", "outer (" + program + ":5)", "main (" + program + ":9)", ": state unknown"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
}
