package collect

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"bottleneck/internal/record"
)

// Spec is how to start a program.
type Spec struct {
	Command Command
	Env     []string
	Dir     string    // working directory; "" this process's
	Stdin   io.Reader // *os.File are handed over as they are
	Stdout  io.Writer
	Stderr  io.Writer
	// Grace is how long the program may go on after a first SIGTERM or SIGHUP before OnGrace is called; OnGrace runs
	// while the program goes on, at most once.
	Grace   time.Duration
	OnGrace func()
	// Signals are those that the launcher has taken before; nil where it has not.
	Signals *Signals
}

// Program is a started program.
type Program struct {
	spec    Spec
	cmd     *exec.Cmd
	signals *Signals
	// Started is when it was started.
	Started time.Time
}

// Outcome is how a program ended.
type Outcome struct {
	record.Exit
	// Number is the number of the signal that ended it, 0 otherwise.
	Number int
	// Interrupts counts SIGINT seen while it ran.
	Interrupts int
}

// Start starts the program in the launcher's own process group, so that the terminal's signals and job control reach it
// as they would without a launcher. Errors are *StartError.
func Start(spec Spec) (*Program, error) {
	cmd := &exec.Cmd{Path: spec.Command.Path, Args: spec.Command.Argv, Env: spec.Env, Dir: spec.Dir,
		Stdin: spec.Stdin, Stdout: spec.Stdout, Stderr: spec.Stderr}
	// Only where a stream is not a file (tests): daemons that keep it open must not keep us waiting.
	cmd.WaitDelay = 200 * time.Millisecond
	p := &Program{spec: spec, cmd: cmd, signals: spec.Signals}
	if p.signals == nil {
		p.signals = TakeSignals()
	}
	if err := cmd.Start(); err != nil {
		p.signals.stop()
		return nil, startError(spec.Command.Path, err)
	}
	p.Started = time.Now()
	return p, nil
}

// PID is the program's process id.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Wait waits for the program itself, not for daemons it leaves behind, and passes signals on meanwhile. When ctx ends the
// program is asked to end (SIGTERM).
func (p *Program) Wait(ctx context.Context) Outcome {
	done := make(chan struct{})
	go func() {
		awaitEnd(p.PID())
		_ = p.cmd.Wait() // the state says more than the error
		close(done)
	}()
	p.relay(ctx, done)
	out := outcome(p.cmd.ProcessState)
	out.UnixNS = time.Now().UnixNano()
	out.Interrupts = p.signals.interrupts
	return out
}

// Release gives the signals back their usual effect on the launcher: from here on Ctrl-C ends it.
func (p *Program) Release() { p.signals.stop() }

// relay passes signals on until the program has ended.
func (p *Program) relay(ctx context.Context, done <-chan struct{}) {
	reap := startReaper(p.PID())
	defer reap.stop()
	var grace, end <-chan time.Time // nil until asked for; once only, because After fires once
	cancelled := ctx.Done()
	for {
		select {
		case <-done:
			return
		case <-cancelled:
			cancelled = nil
			p.signals.terminate(p.cmd.Process)
		case sig := <-p.signals.incoming:
			switch p.signals.handle(sig, p.cmd.Process) {
			case askedToEnd:
				if grace == nil {
					grace = time.After(p.spec.Grace)
				}
			case interruptedAgain:
				if end == nil {
					end = time.After(p.spec.Grace)
				}
			}
		case <-grace:
			if p.spec.OnGrace != nil {
				go p.spec.OnGrace()
			}
		case <-end:
			p.signals.terminate(p.cmd.Process)
		}
	}
}

// SignalStatus is the status that a shell gives for a program that a signal has ended.
func SignalStatus(number int) int { return 128 + number }

func outcome(state *os.ProcessState) Outcome {
	if state == nil {
		return Outcome{Exit: record.Exit{Code: 1}}
	}
	out := Outcome{Exit: record.Exit{Code: state.ExitCode(),
		UserSeconds: state.UserTime().Seconds(), SystemSeconds: state.SystemTime().Seconds()}}
	describeEnd(state, &out)
	return out
}
