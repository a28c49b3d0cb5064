package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what is written to it is typed.
type terminal struct {
	*os.File
	other *os.File // the program's end
	lines chan string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{File: master, other: other, lines: scanLines(master)}
	t.Cleanup(func() { master.Close(); other.Close() })
	return term
}

// start runs cmd in a session of its own with this as its terminal.
func (term *terminal) start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.other, term.other, term.other
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func scanLines(r io.Reader) chan string {
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(r)
		for scan.Scan() {
			lines <- strings.TrimRight(scan.Text(), "\r")
		}
	}()
	return lines
}

// Ctrl-C reaches the program once, from the terminal; the launcher does not add another, and the report still comes.
func TestCtrlCReachesTheProgramOnce(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import os, signal, sys, time
count = 0
def seen(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, seen)
os.write(1, b"ready\n")
while not count:
    time.sleep(0.01)
for _ in range(20):  # a second signal would come now
    signal.sigtimedwait([], 0.02)
print("interrupts", count, flush=True)
sys.exit(9)
`)
	term := newTerminal(t)
	cmd := b.command("run", "s.py")
	term.start(t, cmd)
	awaitLine(t, term.lines, "ready")
	_, _ = io.WriteString(term, "\x03")
	if got := awaitLine(t, term.lines, "interrupts"); !strings.HasSuffix(got, "interrupts 1") { // after the terminal's echo, "^C"
		t.Errorf("the program saw %q", got)
	}
	awaitLine(t, term.lines, "bottleneck report ")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("status %d, want the program's 9", code)
	}
}

// A program that ignores Ctrl-C is ended by the third one at the latest, and reported.
func TestCtrlCAgainEndsTheProgram(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import os, signal, time
def seen(*_): os.write(1, b"no\n")
signal.signal(signal.SIGINT, seen)
os.write(1, b"ready\n")
while True: time.sleep(0.01)
`)
	term := newTerminal(t)
	cmd := b.command("run", "s.py")
	term.start(t, cmd)
	awaitLine(t, term.lines, "ready")
	// Of two presses of which the launcher has not yet seen the first, the kernel keeps one: a busy machine needs a fourth, and that
	// may come when the report is already being made, of which a line is left then.
	for range 500 {
		_, _ = io.WriteString(term, "\x03")
		if line := awaitLine(t, term.lines, "no", "bottleneck report "); strings.Contains(line, "bottleneck report ") {
			break
		}
	}
	_ = cmd.Wait()
	if r := ended(cmd, "", ""); r.signal != syscall.SIGKILL {
		t.Errorf("ended by %v, want the program's SIGKILL", r.signal)
	}
}

// Ctrl-Z stops the launcher and the program together; both go on after SIGCONT.
func TestJobControl(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "print('ready', flush=True)\nprint('got', input(), flush=True)\n")
	term := newTerminal(t)
	// A shell with job control puts its job into a group of its own, as here; stops need a living parent outside of it.
	cmd := b.exec("bash", "-c", `set -m; "$@"; echo stopped with $?; fg; echo ended with $?`, "bash", b.command().Path, "run", "s.py")
	term.start(t, cmd)
	awaitLine(t, term.lines, "ready")
	_, _ = io.WriteString(term, "\x1a")
	awaitLine(t, term.lines, fmt.Sprintf("stopped with %d", 128+int(unix.SIGTSTP)))
	_, _ = io.WriteString(term, "hello\n")
	awaitLine(t, term.lines, "got hello")
	awaitLine(t, term.lines, "ended with 0")
	_ = cmd.Wait()
}

// startPiped starts bottleneck in a session of its own (no terminal), with lines of its standard output and error.
func (b *bench) startPiped(args ...string) (cmd *exec.Cmd, stdin io.WriteCloser, stdout, stderr chan string) {
	b.t.Helper()
	cmd = b.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	// Plain pipes: the program gets them as files, and daemons that hold them do not keep Wait waiting.
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = outWrite, errWrite
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	outWrite.Close()
	errWrite.Close()
	b.t.Cleanup(func() { outRead.Close(); errRead.Close() })
	return cmd, stdin, scanLines(outRead), scanLines(errRead)
}

// Signals sent to the launcher alone, as schedulers and supervisors do, are the program's.
func TestSignalsToTheLauncherAreForwarded(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("ignored by what started the tests (nohup), and therefore by the launcher")
			}
			b := newBench(t)
			b.file("s.py", fmt.Sprintf(`import os, signal, sys, time
def seen(*_):
    os.write(1, b"seen\n")
    sys.exit(4)
signal.signal(%d, seen)
os.write(1, b"ready\n")
while True: time.sleep(0.01)  # not pause: a signal just before it would be missed
`, sig))
			cmd, _, stdout, stderr := b.startPiped("run", "s.py")
			awaitLine(t, stdout, "ready")
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			awaitLine(t, stdout, "seen")
			awaitLine(t, stderr, "bottleneck report ")
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 4 {
				t.Errorf("status %d, want 4", code)
			}
		})
	}
}

// A program that goes on after SIGTERM is reported after a short grace, before a scheduler kills both; and again at its end.
func TestReportWhenAskedToEndAndGoingOn(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
input()
`)
	cmd, stdin, stdout, stderr := b.startPiped("run", "s.py")
	awaitLine(t, stdout, "ready")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, stderr, "the program still runs")
	awaitLine(t, stderr, "bottleneck report ")
	_, _ = io.WriteString(stdin, "\n")
	awaitLine(t, stderr, "bottleneck report ")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("status %d, want 0", code)
	}
}

// A hang-up that the user had ignored (nohup) stays ignored for the program.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	b := newBench(t)
	self := b.command().Path
	got := b.finish(b.exec("sh", "-c", `trap "" HUP INT; exec "$0" run -- sh -c 'kill -HUP $$; kill -INT $$; exit 4'`, self))
	if got.code != 4 {
		t.Errorf("got %+v", got)
	}
}

// The program stays in the launcher's process group, so that a terminal's foreground stays what it was.
func TestSameProcessGroup(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os\nprint(os.getpgrp() == os.getpgid(os.getppid()), os.getsid(0) == os.getsid(os.getppid()))\n")
	if got := b.run("", "run", "s.py"); got.stdout != "True True\n" {
		t.Errorf("got %+v", got)
	}
}

// A daemon left behind keeps standard output open; the launcher does not wait for it, and does not end it.
func TestDaemonsAreNotWaitedFor(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import os, sys
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.read(0, 1)  # until the test says so
    with open("daemon", "w") as f: f.write("lived")
    print("daemon done", flush=True)
    os._exit(0)
print("parent done", flush=True)
os._exit(5)
`)
	cmd, stdin, stdout, stderr := b.startPiped("run", "s.py")
	awaitLine(t, stderr, "bottleneck report ")
	if err := cmd.Process.Signal(syscall.Signal(0)); err == nil {
		_, _ = cmd.Process.Wait()
	}
	_, _ = io.WriteString(stdin, "x")
	awaitLine(t, stdout, "daemon done")
	for range stdout { // until the daemon is gone, agent and all
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "daemon")); err != nil || string(text) != "lived" {
		t.Errorf("the daemon did not live on: %q, %v", text, err)
	}
}

// bottleneck is killed: the program goes on to its end, and the session can be read.
func TestLauncherKilled(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "print('ready', flush=True)\ninput()\nopen('end', 'w').write('reached')\nprint('over', flush=True)\n")
	cmd, stdin, stdout, _ := b.startPiped("run", "s.py")
	awaitLine(t, stdout, "ready")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait()
	growing := b.run("", "report", b.session(), "--json", "-")
	if growing.code != 0 {
		t.Errorf("report of the growing session: %+v", growing)
	}
	expect(t, "the growing report", growing.stdout, `"growing": true`)
	_, _ = io.WriteString(stdin, "\n")
	awaitLine(t, stdout, "over")
	for range stdout { // until the program has ended
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "end")); err != nil || string(text) != "reached" {
		t.Errorf("the program did not go on: %q, %v", text, err)
	}
	if got := b.run("", "report", b.session()); got.code != 0 {
		t.Errorf("report of the session left behind: %+v", got)
	}
}

// As process 1 of a container the launcher collects orphans, and a program that ends by a signal gives 128 + N, because
// the kernel does not let process 1 end by one.
func TestAsProcessOne(t *testing.T) {
	b := newBench(t)
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no PID name spaces here: %v %s", err, out)
	}
	b.file("s.py", `import os, time
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:  # an orphan, adopted by process 1
        os.write(w, str(os.getpid()).encode())
        os._exit(0)
    os._exit(0)
os.wait()
orphan = os.read(r, 20).decode()
end = time.monotonic() + 30
while os.path.exists("/proc/" + orphan) and time.monotonic() < end:
    time.sleep(0.01)
print("parent", os.getppid(), "orphan collected", not os.path.exists("/proc/" + orphan), flush=True)
os.kill(os.getpid(), 15)
`)
	self := b.command().Path
	got := b.finish(b.exec("unshare", "--pid", "--fork", "--mount-proc", self, "run", "s.py"))
	if got.code != 128+15 || got.stdout != "parent 1 orphan collected True\n" {
		t.Errorf("got %+v", got)
	}
}
