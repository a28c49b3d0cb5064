package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// noting is a program that says what it got.
const noting = `import signal, sys, time
def got(n, _): print("got", n, flush=True)
signal.signal(signal.SIGINT, got)
signal.signal(signal.SIGTERM, got)
print("begin", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: sum(range(5000))
print("end", flush=True)
sys.exit(6)
`

// attackKill sends a signal to the launcher, or to a command that reads, at a random moment.
func attackKill(t *try) {
	if t.number%3 == 2 {
		packed := t.pack(t.sessions[0], false)
		t.interruptedReport(packed)
		return
	}
	s := pick(t.rng, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL)
	wait := time.Duration(t.rng.IntN(1800)) * time.Millisecond
	t.say("%v to run after %v", s, wait)
	out := t.path("out/session")
	args := []string{t.binary, "run", "--out", out, "-o", os.DevNull, "--", t.python, t.file("in/p.py", noting), "1.2"}
	e := t.signalled(args, s, wait, false)
	t.commands++
	t.dirty = s == syscall.SIGKILL
	command := t.commandLine(args[1:])
	switch begun := bytes.Contains(e.stdout, []byte("begin\n")); {
	case e.hung != "":
		t.bad("hang", command, "%s", e.hung)
	case crashed.Match(e.stderr):
		t.bad("panic", command, "%s", head(e.stderr, 10))
	case begun && !bytes.HasSuffix(e.stdout, []byte("end\n")):
		t.bad("other output", command, "the program did not go on to its end: %q %s", e.stdout, head(e.stderr, 3))
	case begun && s != syscall.SIGKILL && e.code != 6 && !(e.signal == s && !bytes.Contains(e.stdout, []byte("got "))):
		// Python gives signals back their usual effect when it ends: one that comes then ends the program, alone too.
		t.bad("other status", command, "%d, want 6: %s", e.code, head(e.stderr, 3))
	case bytes.Count(e.stdout, []byte("got ")) > 1:
		t.bad("other output", command, "the program got one signal several times: %q", e.stdout)
	}
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
		t.drive(1, out)
	}
}

// signalled runs a command and sends it, or its whole group, a signal after a while.
func (t *try) signalled(args []string, s syscall.Signal, wait time.Duration, group bool) ended {
	return t.start(execution{dir: t.path("cwd"), env: t.environment(), args: args, whenStarted: func(p *os.Process) {
		time.AfterFunc(wait, func() {
			if group {
				_ = syscall.Kill(-p.Pid, s)
				return
			}
			_ = p.Signal(s) // an error where it has ended, which the standard library knows
		})
	}})
}

// interruptedReport ends a command that reads an archive; nothing of what it unpacked may stay.
func (t *try) interruptedReport(path string) {
	s := pick(t.rng, syscall.SIGINT, syscall.SIGTERM)
	wait := time.Duration(t.rng.IntN(400)) * time.Millisecond
	args := pick(t.rng, []string{"report", path}, []string{"export", "--to", "chrome", "-o", t.out(), path},
		[]string{"what-if", "--remove", "python", path})
	t.say("%v to %s after %v", s, args[0], wait)
	e := t.signalled(append([]string{t.binary}, args...), s, wait, false)
	t.commands++
	switch {
	case e.hung != "":
		t.bad("hang", t.commandLine(args), "%s", e.hung)
		t.dirty = true
	case crashed.Match(e.stderr):
		t.bad("panic", t.commandLine(args), "%s", head(e.stderr, 10))
	}
}
