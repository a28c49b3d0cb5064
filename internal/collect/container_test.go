package collect

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// standing says "ready" and stands still in the main thread and in one with a name.
const standing = `
import threading, time
def beside():
    time.sleep(1000)
t = threading.Thread(target=beside, name="beside", daemon=True)
t.start()
def below():
    print("ready", flush=True)
    time.sleep(1000)
below()
`

// dumpStanding dumps until both threads of the program sleep.
func dumpStanding(t *testing.T, pid int) DumpedProcess {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		list, err := Dump(pid, DumpOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d := list[len(list)-1]
		if len(d.Threads) == 2 && d.Threads[0].State == "blocked" && d.Threads[0].Frames[0].Line == 9 && len(d.Threads[1].Frames) > 0 &&
			d.Threads[1].Frames[0].Function == "beside" {
			return d
		}
		if time.Now().After(deadline) {
			t.Fatalf("the program does not stand still: %+v", list)
		}
	}
}

func checkStanding(t *testing.T, d DumpedProcess) {
	t.Helper()
	main, other := d.Threads[0], d.Threads[1]
	if main.TID != d.PID || main.Frames[0].Function != "below" || main.Frames[0].Line != 9 || main.Name != "MainThread" {
		t.Errorf("main thread %+v", main)
	}
	if other.Name != "beside" || other.TID <= d.PID || other.Frames[0].Line != 4 {
		t.Errorf("second thread %+v", other)
	}
}

// TestContainer reads programs in a PID and mount namespace of their own, as in a container: every interpreter counts its
// threads from 1 there.
func TestContainer(t *testing.T) {
	if err := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Skipf("unshare makes no namespaces here: %v", err)
	}
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			p := startProgram(t, "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", python, "-c", standing)
			p.line(t)
			d := dumpStanding(t, p.cmd.Process.Pid)
			if d.PID == p.cmd.Process.Pid {
				t.Fatalf("unshare itself was dumped: %+v", d)
			}
			checkStanding(t, d)
		})
	}
}

// TestExecutableGone reads programs whose executable was deleted, or replaced by another file, while they run.
func TestExecutableGone(t *testing.T) {
	for version, python := range pythons(t) {
		real, err := filepath.EvalSymlinks(python)
		if err != nil || !strings.Contains(real, ".pyenv") {
			continue // wrappers and the system's own are not to be copied
		}
		for _, replaced := range []bool{false, true} {
			t.Run(version, func(t *testing.T) {
				copied := filepath.Join(t.TempDir(), filepath.Base(real))
				copyFile(t, real, copied)
				t.Setenv("PYTHONHOME", filepath.Dir(filepath.Dir(real)))
				p := startProgram(t, copied, "-c", standing)
				p.line(t)
				if replaced {
					other := copied + ".new"
					copyFile(t, "/bin/true", other)
					err = os.Rename(other, copied)
				} else {
					err = os.Remove(copied)
				}
				if err != nil {
					t.Fatal(err)
				}
				checkStanding(t, dumpStanding(t, p.cmd.Process.Pid))
			})
		}
	}
}

func copyFile(t *testing.T, from, to string) {
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
