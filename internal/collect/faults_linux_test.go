package collect

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bottleneck/internal/proc"
)

// TestNumberReused gives the tree a process whose number belongs to another one by now: its samples must end, and the
// other one is none of the tree.
func TestNumberReused(t *testing.T) {
	p := startProgram(t, newestPython(t), "-c", standing)
	p.line(t)
	mono, _ := clockPair()
	s := &Sampler{opts: SamplerOptions{PID: p.cmd.Process.Pid, Hz: DefaultHz}}
	tr := newTree(s)
	st, err := proc.ReadStat(p.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	tr.procs[st.PID] = &treeProcess{}
	tr.procs[st.PID].PID, tr.procs[st.PID].StartTicks = st.PID, st.StartTicks-1
	if tr.check(tr.procs[st.PID], mono) {
		t.Error("a process that took over the number was taken for the old one")
	}
	if tr.procs[st.PID] != nil {
		t.Error("the old process is still in the tree")
	}
}

// whyNoDump is why a process has no stacks.
func whyNoDump(pid int) string {
	list, err := Dump(pid, DumpOptions{})
	if err != nil {
		return err.Error()
	}
	return list[0].Reason
}

// TestOtherImplementation refuses a process that runs PyPy, by its library.
func TestOtherImplementation(t *testing.T) {
	library := filepath.Join(t.TempDir(), "libpypy3.11-c.so")
	copyFile(t, "/bin/true", library)
	p := startProgram(t, newestPython(t), "-c", "import mmap, sys, time\nf = open(sys.argv[1], 'rb')\n"+
		"m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nprint('ready', flush=True)\ntime.sleep(1000)", library)
	p.line(t)
	if why := whyNoDump(p.cmd.Process.Pid); !strings.Contains(why, "not CPython") {
		t.Errorf("%q does not say that it is not CPython", why)
	}
}

// otherUser is set in the process that plays another user.
const otherUser = "BOTTLENECK_TEST_OTHER_USER"

// TestOtherUser reads a process as a user whose it is not: the message says whose help is needed.
func TestOtherUser(t *testing.T) {
	if pid, err := strconv.Atoi(os.Getenv(otherUser)); err == nil {
		if why := whyNoDump(pid); !strings.Contains(why, "belongs to another user") || !strings.Contains(why, "sudo") {
			t.Fatalf("%q does not say that the process is another user's", why)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can play another user")
	}
	p := startProgram(t, newestPython(t), "-c", standing)
	p.line(t)
	dir, err := os.MkdirTemp("/tmp", "bottleneck-other-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(dir, "self")
	copyFile(t, "/proc/self/exe", self)
	cmd := exec.Command(self, "-test.run", "^TestOtherUser$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), otherUser+"="+strconv.Itoa(p.cmd.Process.Pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

// counting counts the signals that it gets and looks for a tracer of itself until its input ends.
const counting = `
import re, signal, sys, threading
got, traced = [], []
for n in range(1, signal.NSIG):
    try:
        signal.signal(n, lambda n, f: got.append(n))
    except (OSError, ValueError):
        pass
end = threading.Event()
def wait():
    sys.stdin.read()
    end.set()
threading.Thread(target=wait).start()
print("ready", flush=True)
while not end.is_set():
    status = open("/proc/self/status").read()
    if re.search(r"TracerPid:\s*[1-9]", status):
        traced.append(1)
print(len(got), len(traced), flush=True)
`

// TestHarmless samples a program at 1 kHz which sees no signal and no tracer, without native frames and with.
func TestHarmless(t *testing.T) {
	for _, mode := range []NativeMode{NativeOff, NativeWatch} {
		t.Run("native "+string(mode), func(t *testing.T) { harmless(t, mode) })
	}
}

func harmless(t *testing.T, mode NativeMode) {
	cmd := exec.Command(newestPython(t), "-c", counting)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := startCommand(t, cmd)
	p.line(t)
	s, err := StartSampler(context.Background(), SamplerOptions{PID: cmd.Process.Pid, Hz: 1000, Dir: t.TempDir(), Native: mode})
	if err != nil {
		t.Fatal(err)
	}
	timer := time.NewTimer(time.Second)
	<-timer.C
	if _, err := Dump(cmd.Process.Pid, DumpOptions{Locals: true, Native: mode}); err != nil {
		t.Error(err)
	}
	st := s.Stop()
	in.Close()
	if text := p.line(t); text != "0 0" || st.Samples == 0 {
		t.Errorf("signals and tracers: %s; %d samples", text, st.Samples)
	}
}

// TestOnlyReads looks for the system calls that would write to another process, stop it or signal it. The file of
// --native=stop is excepted, which stops because it was asked to; only the two functions of that flag call it.
func TestOnlyReads(t *testing.T) {
	forbidden := []string{"VM_WRITEV", "PTRACE_", "PtraceAttach", "PtraceSeize", "unix.Kill(", "syscall.Kill(", "Pwrite(",
		"O_RDWR", "StopThread("}
	seen := 0
	for _, pattern := range []string{"../proc/*.go", "../cpython/*.go", "sampler*.go", "tree*.go", "attach.go",
		"native.go", "nativesample.go"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "stop_linux.go" {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			for _, f := range forbidden {
				if strings.Contains(string(text), f) && !(f == "StopThread(" && filepath.Base(path) == "native_other.go") {
					t.Errorf("%s has %s", path, f)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// signalled counts the signals of a timer while it computes, and ends after so many of them.
const signalled = `
import signal, threading, time
got = 0
def handler(number, frame):
    global got
    got += 1
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
print("ready", flush=True)
n = 0
while got < 200:
    n += 1
    if n % 5000 == 0:
        t = threading.Thread(target=sum, args=(range(20000),))
        t.start()
        t.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print("done", flush=True)
`

// TestNativeUntilTheEnd reads native frames of a program whose threads come and go, that gets signals all the time, and
// that ends while it is read. Stopped threads go on, no signal is lost, and the sampler ends with the program.
func TestNativeUntilTheEnd(t *testing.T) {
	for _, mode := range []NativeMode{NativeWatch, NativeStop} {
		t.Run(string(mode), func(t *testing.T) {
			p := startProgram(t, newestPython(t), "-c", signalled)
			p.line(t)
			s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Hz: 500, Dir: t.TempDir(), Native: mode})
			if err != nil {
				t.Fatal(err)
			}
			if text := p.line(t); text != "done" {
				t.Errorf("the program said %q", text)
			}
			awaitEnd(p.cmd.Process.Pid)
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("the program ended with %v", err)
			}
			<-s.Done()
			if st := s.Stop(); st.Samples == 0 {
				t.Error("no samples")
			}
		})
	}
}
