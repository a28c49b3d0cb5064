package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/early"
	"bottleneck/internal/record"
)

// grace is how long after a first SIGTERM the report of what was measured so far is printed although the program still
// runs: schedulers kill 10 (docker) to 30 seconds (Slurm, Kubernetes) after it.
const grace = 4 * time.Second

func newRunCommand(a *app) *cobra.Command {
	o := &runOptions{}
	r := &reportOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT [ARGS…] | -m MODULE [ARGS…] | -- COMMAND [ARGS…]",
		Short: "Run a program unchanged, and report at its end why it is slow",
		Long: "Runs a program unchanged: its arguments, streams, working directory, signals and exit status are its own.\n" +
			"A command that is no Python script (python, torchrun, a shell script) may stand in SCRIPT's place.\n" +
			"The report goes to standard error (or -o FILE) when the program has ended.",
		Example: "  bottleneck run train.py --epochs 1\n" +
			"  bottleneck run -m pkg.train --config small.yaml\n" +
			"  bottleneck run --lines 'Model.*' --lines train.py:120 train.py\n" +
			"  bottleneck run --out before/ -- torchrun --nproc-per-node 2 train.py",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.cudaBlocking { // of this process, so that it is among the recorded settings, and holds where nothing is measured
				_ = os.Setenv(collect.LaunchBlocking, "1")
			}
			if why := collect.TooTight(); why != "" {
				return a.runUnmeasured(cmd, o, args, why)
			}
			early.Release()
			if err := o.check(cmd); err != nil {
				return err
			}
			if r.json == "-" {
				return usage("run: --json - is not possible, because standard output is the program's; give a file")
			}
			if o.classic {
				r.style = "classic"
			}
			if err := r.check(cmd); err != nil {
				return err
			}
			target, err := o.target(cmd, args)
			if err != nil {
				return err
			}
			l := &launch{app: a, opt: o, report: r, target: target}
			if l.with, l.withPath, err = withTool(o.with); err != nil {
				return err
			}
			if l.with != nil && o.config.Emit == "" && !o.noTrace { // torch's profiler and the tool would be in each other's way
				o.config.Emit = l.with.emit
			}
			return l.run(cmd.Context())
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	o.addRunOnly(cmd.Flags())
	o.addTo(cmd.Flags())
	r.addTo(cmd.Flags())
	r.fixes.addTo(cmd.Flags())
	r.gpu.addTo(cmd.Flags())
	return cmd
}

// launch is one `bottleneck run`.
type launch struct {
	*app
	opt     *runOptions
	report  *reportOptions
	target  collect.Target
	command collect.Command
	session *session // nil where no session could be made: the program runs all the same
	program *collect.Program

	// Of programs that are run in turns: no report is printed, and what cannot be measured is an error.
	repeated    bool
	dir         string   // working directory; "" this process's
	environment []string // on top of this process's

	with     *otherTool // the tool that the program runs under, nil for none
	withPath string

	printing sync.Mutex // the report so far and the one at the end do not mix
}

func (l *launch) run(ctx context.Context) error {
	if err := l.start(ctx); err != nil {
		return err
	}
	page := l.startViewer()
	outcome := l.program.Wait(ctx)
	l.underTool(ctx, &outcome)
	l.finish(ctx, outcome)
	l.endViewer(page)
	return l.endAs(outcome)
}

// start opens the session and starts the program.
func (l *launch) start(ctx context.Context) error {
	var err error
	if l.command, err = l.target.Resolve(); err != nil {
		return startFailure(err)
	}
	l.report.fixes.python = l.command.Interpreter
	env := append(os.Environ(), l.environment...)
	signals := collect.TakeSignals()
	if os.Getenv(collect.EnvSession) == "" { // else the outer run measures this program too
		asked := signals.WhilePreparing(collect.EndBySignal)
		l.session, err = openSession(l.app, l.opt, l.target, l.command, l.dir)
		if number := asked(); number != 0 {
			l.session.abandon()
			return l.endBy(number, collect.SignalStatus(number))
		}
		var other *record.OtherJobError
		var others *othersError
		if errors.As(err, &other) || errors.As(err, &others) {
			return usage("--out: %v", err)
		}
		if err != nil && l.repeated {
			return unusable(err)
		} else if err != nil {
			l.warn("nothing is measured, the program runs all the same: %v", err)
		}
		env = l.session.environ(env, l.opt)
	}
	command := l.command
	if l.with != nil && l.session != nil {
		command = l.with.under(l.withPath, l.session.folder, l.report.gpu.metrics, l.command)
	}
	l.program, err = collect.Start(collect.Spec{Command: command, Env: env, Dir: l.dir, Stdin: l.stdin, Stdout: l.stdout,
		Stderr: l.stderr, Grace: grace, OnGrace: l.interim, Signals: signals})
	if err != nil {
		l.session.abandon()
		if collect.Lacking(err) && !l.repeated {
			l.warn("nothing is measured, the program runs all the same: %v beside bottleneck", err)
			err = l.command.Become(os.Environ())
		}
		return startFailure(err)
	}
	l.session.started(ctx, l.opt, l.program)
	return nil
}

// runUnmeasured makes this process the program where a limit leaves no room for a launcher beside it.
func (a *app) runUnmeasured(cmd *cobra.Command, o *runOptions, args []string, why string) error {
	target, err := o.target(cmd, args)
	if err != nil {
		return err
	}
	command, err := target.Plain()
	if err != nil {
		return startFailure(err)
	}
	a.warn("nothing is measured, the program runs all the same: %s", why)
	return startFailure(command.Become(os.Environ()))
}

// finish completes the session and prints the report. Ctrl-C ends it early; nothing in it changes the program's status, so signals
// are received to the launcher's own end.
func (l *launch) finish(ctx context.Context, outcome collect.Outcome) {
	ctx, _ = untilSignal(ctx)
	l.program.Release()
	defer func() {
		if e := recover(); e != nil {
			l.warn("the report is missing: internal error: %v", e)
		}
	}()
	if l.session == nil {
		return
	}
	err := l.session.ended(ctx, outcome)
	if err == nil && l.session.launcher.Rank == 0 {
		l.session.waitForOthers(ctx, 2*time.Second)
		err = l.show(ctx, true)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		l.warn("the report was interrupted; see it by: bottleneck report %s", l.session.shown)
	case err != nil:
		l.warn("the report is missing: %v; try: bottleneck report %s", err, l.session.shown)
	}
	l.session.close(ctx)
	if l.opt.prove && err == nil && l.session.launcher.Rank == 0 {
		l.prove(ctx)
	}
}

// prove proves the first finding, after the report and where that goes by default: the program's output stays its own.
func (l *launch) prove(ctx context.Context) {
	a := *l.app
	a.stdout = l.stderr
	err := (&proveOptions{budget: l.opt.proveBudget}).run(ctx, &a, l.session.dir)
	if err != nil && err.Error() != "" {
		l.warn("%v", err)
	}
}

// interim prints what was measured so far, when a scheduler has asked the program to end and it goes on.
func (l *launch) interim() {
	defer func() { _ = recover() }() // the report at the end has another chance
	if l.repeated || l.session == nil || l.session.launcher.Rank != 0 {
		return
	}
	l.warn("asked to end; the program still runs; this is what was measured so far")
	_ = l.show(context.Background(), false)
}

// show prints the report of the session as it is now.
func (l *launch) show(ctx context.Context, ended bool) error {
	l.printing.Lock()
	defer l.printing.Unlock()
	report := *l.report
	report.fixes.measure = report.fixes.measure && ended   // never beside the program
	if report.fixes.measure && report.fixes.python == "" { // the command names none, or hides it: torchrun, a script
		report.fixes.python = interpreterThatRan(l.session.dir, l.session.launcher.Host)
	}
	return report.print(ctx, l.app, l.stderr, []string{l.session.dir}, l.session.shown, true)
}

// endAs makes this process end as the program did.
func (l *launch) endAs(outcome collect.Outcome) error {
	return l.endBy(outcome.Number, outcome.Code)
}

// endBy ends by a signal, 0 for none, or with a status where that is impossible.
func (l *launch) endBy(signal, status int) error {
	if signal > 0 {
		l.afterwards = func() { collect.EndBySignal(signal) }
	}
	if status != 0 {
		return &exitError{code: status}
	}
	return nil
}

// startFailure is the usage-like error of a command that cannot be started.
func startFailure(err error) error {
	var start *collect.StartError
	if errors.As(err, &start) {
		return &exitError{start.Status, start}
	}
	return &exitError{collect.StatusNotExecutable, fmt.Errorf("start the program: %w", err)}
}
