//go:build unix

package collect

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signals receives the launcher's signals while the program runs, and shortly before.
type Signals struct {
	incoming   chan os.Signal
	unused     chan os.Signal
	interrupts int
}

// TakeSignals starts receiving. Signals that the launcher was started to ignore (nohup, a background job) stay
// ignored, so that the program inherits that.
func TakeSignals() *Signals {
	r := &Signals{incoming: make(chan os.Signal, 16), unused: make(chan os.Signal, 1)}
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(sig) {
			signal.Notify(r.incoming, sig)
		}
	}
	if !signal.Ignored(unix.SIGPIPE) {
		signal.Notify(r.unused, unix.SIGPIPE) // a reader of the report that went away must not cost the exit status
	}
	return r
}

func (r *Signals) stop() { signal.Stop(r.incoming) }

// handle passes a signal on to the program where the program does not get it by itself. SIGINT and SIGQUIT from a
// terminal go to its whole foreground group; everything else was sent to the launcher alone, as far as we can know.
func (r *Signals) handle(sig os.Signal, program *os.Process) reaction {
	switch sig {
	case unix.SIGINT:
		r.interrupts++
		if !fromTerminal() {
			_ = program.Signal(sig)
		}
		if r.interrupts > 2 {
			_ = program.Kill()
		}
		if r.interrupts == 2 {
			return interruptedAgain
		}
		return nothingMore
	case unix.SIGQUIT:
		if !fromTerminal() {
			_ = program.Signal(sig)
		}
		return nothingMore
	}
	_ = program.Signal(sig)
	if sig == unix.SIGTERM || sig == unix.SIGHUP {
		return askedToEnd
	}
	return nothingMore
}

func (r *Signals) terminate(program *os.Process) { _ = program.Signal(unix.SIGTERM) }

// fromTerminal says whether a SIGINT can have come from the terminal: only then does the launcher's group, which is the
// program's, own it.
func fromTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// describeEnd fills in the signal, the status that a shell gives for it, and the peak memory.
func describeEnd(state *os.ProcessState, out *Outcome) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		out.Number = int(ws.Signal())
		out.Code = SignalStatus(out.Number)
		out.Signal = SignalName(out.Number)
	}
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		out.MaxRSSBytes = int64(ru.Maxrss) * rusageUnit
	}
}

// SignalName is "SIGTERM" for 15; "signal N" for one without a name.
func SignalName(number int) string {
	if name := unix.SignalName(unix.Signal(number)); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(number)
}

// EndBySignal ends this process by the signal that ended the program, without a second core file. It returns only where
// that is impossible (process 1 of a container). Signals that the Go runtime turns into crashes of its own are raised by a
// shell that takes this process's place.
func EndBySignal(number int) {
	if os.Getpid() == 1 {
		return // the kernel keeps the signal away, but Go's own handler may see it, and would end the process with status 2
	}
	sig := unix.Signal(number)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	signal.Reset(sig)
	switch sig {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGKILL:
		_ = unix.Kill(unix.Getpid(), sig)
		time.Sleep(time.Second) // delivery may lag behind the call by a moment
		return
	}
	if shell, err := exec.LookPath("/bin/sh"); err == nil {
		_ = unix.Exec(shell, []string{"sh", "-c", "kill -" + strconv.Itoa(number) + " $$"}, []string{})
	}
}
