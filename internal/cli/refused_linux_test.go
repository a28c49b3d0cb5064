package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"bottleneck/internal/proc"
)

// standStill starts a program that stands still until the test ends, and waits until it does.
func (b *bench) standStill() int {
	b.t.Helper()
	cmd := b.exec(python, "-c", "import sys\nprint('ready', flush=True)\nsys.stdin.read()")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if lines := bufio.NewScanner(out); !lines.Scan() {
		b.t.Fatal(lines.Err())
	}
	return cmd.Process.Pid
}

// sleeper starts a program without Python; gone is the number of one that has ended; zombie one that nobody asked about.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func gone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	return cmd.Process.Pid
}

func zombie(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	for {
		if st, err := proc.ReadStat(cmd.Process.Pid); err != nil || st.State == 'Z' {
			return cmd.Process.Pid
		}
	}
}

// TestRefusals: attach, top and dump say in one line what a process is that they cannot read, and leave nothing behind.
func TestRefusals(t *testing.T) {
	pids := map[string]int{"no CPython interpreter": sleeper(t), "does not exist": gone(t), "has ended": zombie(t)}
	if st, err := proc.ReadStat(2); err == nil && st.Comm == "kthreadd" {
		pids["kernel thread"] = 2
	}
	b := newBench(t)
	for want, pid := range pids {
		for _, command := range []string{"dump", "top", "attach"} {
			got := b.run("", command, strconv.Itoa(pid))
			if lines := strings.Split(strings.TrimSpace(got.stderr), "\n"); got.code != 3 || got.stdout != "" || len(lines) != 1 ||
				!strings.Contains(got.stderr, want) {
				t.Errorf("%s of a process that %q: %+v", command, want, got)
			}
		}
	}
	if left, _ := os.ReadDir(filepath.Join(b.dir, "bottleneck-out")); len(left) > 0 {
		t.Errorf("%d sessions of nothing are left", len(left))
	}
}

// TestRefusedToOthers: a process of another user is refused with the name of what would help.
func TestRefusedToOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can play another user")
	}
	b := newBench(t)
	pid := b.standStill()
	open, err := os.MkdirTemp("/tmp", "bottleneck-refused-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(open) })
	self := filepath.Join(open, "self")
	copyExecutable(t, "/proc/self/exe", self)
	if err := os.Chown(open, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"dump", "top", "attach"} {
		cmd := b.exec(self, command, strconv.Itoa(pid))
		cmd.Dir = open
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		got := b.finish(cmd)
		if got.code != 3 || got.stdout != "" || !strings.Contains(got.stderr, "another user") || !strings.Contains(got.stderr, "sudo") {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

func copyExecutable(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// filtered runs a command under a filter that refuses process_vm_readv, as containers' default filters did for long.
const filtered = `import ctypes, os, platform, struct, sys
call = {"x86_64": 310, "aarch64": 270}[platform.machine()]
def instruction(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)
program = instruction(0x20, 0, 0, 0) + instruction(0x15, 0, 1, call) + instruction(0x06, 0, 0, 0x00050000 | 1) + instruction(0x06, 0, 0, 0x7fff0000)
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("text", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.byref(Program(4, program)), 0, 0):
    print("no filter:", os.strerror(ctypes.get_errno()))
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
`

// TestFilteredCall: where a filter refuses the call that reads memory, the memory's file is read instead.
func TestFilteredCall(t *testing.T) {
	b := newBench(t)
	pid := b.standStill()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := b.file("filtered.py", filtered)
	got := b.finish(b.exec(python, script, self, "dump", strconv.Itoa(pid)))
	if got.code == 77 {
		t.Skip(got.stdout)
	}
	if got.code != 0 || !strings.Contains(got.stdout, "<module> (<string>:3)") {
		t.Errorf("%+v", got)
	}
}

// TestDoctorGivesTheSameAdvice: what doctor says of reading other programs is what attach, top and dump say.
func TestDoctorGivesTheSameAdvice(t *testing.T) {
	for _, p := range []proc.Permission{{PtraceScope: 1}, {PtraceScope: 2}, {PtraceScope: 3}, {Capable: true, Seccomp: true},
		{Seccomp: true}, {}, {Capable: true}} {
		p.Running, p.SameUser = true, true
		if c := checkOthers(p); c.next != p.Advice() || c.ok != (p.Advice() == "") {
			t.Errorf("%+v: %+v, not %q", p, c, p.Advice())
		}
	}
}
