package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// attachOptions are the flags of attach that the report does not have.
type attachOptions struct {
	rate     float64
	duration time.Duration
	out      string
	native   string
	mode     collect.NativeMode
}

func newAttachCommand(a *app) *cobra.Command {
	o := &attachOptions{}
	r := &reportOptions{}
	cmd := &cobra.Command{
		Use:   "attach [flags] PID",
		Short: "Record a program that already runs, without stopping it, and report",
		Long: "Samples the Python stacks of a running program and its children from outside, until it ends, --duration has passed\n" +
			"or Ctrl-C. The program is neither stopped nor changed. There are no operators or steps: those need `bottleneck run`.",
		Example: "  bottleneck attach 4242\n" +
			"  bottleneck attach --duration 30s --rate 1000 4242\n" +
			"  bottleneck attach --native --duration 10s 4242\n" +
			"  bottleneck attach --gil --duration 10s 4242\n" +
			"  bottleneck attach --out server/ --json server.json 4242",
		Args: func(_ *cobra.Command, args []string) error { return onePID("attach", args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := parsePIDs("attach", args)
			if err != nil {
				return err
			}
			if err := r.check(cmd); err != nil {
				return err
			}
			if o.rate <= 0 || o.rate > 10000 {
				return usage("attach: --rate must be above 0 and at most 10000")
			}
			if o.mode, err = nativeMode("attach", o.native); err != nil {
				return err
			}
			return a.attach(cmd.Context(), o, r, pids[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Float64Var(&o.rate, "rate", collect.DefaultHz, "samples per second and thread")
	f.DurationVar(&o.duration, "duration", 0, "stop after this `TIME`, like 30s (0 = when the program ends, or Ctrl-C)")
	f.StringVar(&o.out, "out", "", "session `DIR` (default bottleneck-out/attach-<pid>-<time>)")
	addNative(f, &o.native)
	r.samples.addTo(f)
	r.addTo(f)
	return cmd
}

func (a *app) attach(ctx context.Context, o *attachOptions, r *reportOptions, pid int) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if why := collect.AwaitPython(ctx, pid); why != "" {
		return unusable(fmt.Errorf("attach: process %d: %s", pid, why))
	}
	s, err := openAttached(o, pid)
	if err != nil {
		return unusable(err)
	}
	sampler, err := collect.StartSampler(ctx, collect.SamplerOptions{PID: pid, Hz: o.rate, Dir: s.folder, Host: s.launcher.Host,
		Native: o.mode})
	if err != nil {
		return unusable(fmt.Errorf("attach: %w", err))
	}
	if isTerminal(a.stderr) {
		fmt.Fprintf(a.stderr, "recording process %d; Ctrl-C ends the recording, not the program\n", pid)
	}
	waitFor(ctx, sampler.Done(), o.duration)
	interrupted := ctx.Err() != nil
	stop()
	stats := sampler.Stop()
	if text := endedEarly(stats, pid, o.duration); text != "" && !interrupted {
		s.launcher.AddNote("ended", text)
	}
	if err := s.account(sampler); err != nil {
		return unusable(err)
	}
	if stats.Samples == 0 {
		return unusable(fmt.Errorf("attach: no Python stack was read of process %d: %s", pid, whyNone(stats, pid)))
	}
	return r.print(context.Background(), a, a.stdout, []string{s.dir}, s.shown, true)
}

// waitFor waits until the recording is to end.
func waitFor(ctx context.Context, done <-chan struct{}, duration time.Duration) {
	var after <-chan time.Time
	if duration > 0 {
		t := time.NewTimer(duration)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-ctx.Done():
	case <-done:
	case <-after:
	}
}

// endedEarly says when the process ended, if it did before --duration was over.
func endedEarly(stats collect.SamplerStats, pid int, asked time.Duration) string {
	if stats.RootEnded == 0 || stats.RootEnded >= asked {
		return ""
	}
	text := fmt.Sprintf("process %d ended at %s, %.1f s after the recording had begun; --duration was %s", pid,
		time.Now().Add(stats.RootEnded-stats.Wall).Format(time.TimeOnly), stats.RootEnded.Seconds(), shortDuration(asked))
	if stats.Wall-stats.RootEnded > time.Second {
		text += "; what it had started was recorded further"
	}
	return text
}

// shortDuration writes whole hours and minutes as the user did.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func whyNone(stats collect.SamplerStats, pid int) string {
	for _, p := range stats.Processes {
		if p.Reason != "" {
			return p.Reason
		}
	}
	if stats.RootEnded > 0 {
		return fmt.Sprintf("it ended %s after the recording had begun", stats.RootEnded.Round(time.Millisecond))
	}
	if why := collect.WhyNotPython(pid); why != "" {
		return why
	}
	return "it ran no Python code meanwhile"
}

// openAttached makes the session of a program that already runs.
func openAttached(o *attachOptions, pid int) (*session, error) {
	now := time.Now()
	host, _ := os.Hostname()
	args, _ := proc.Args(pid)
	args = record.RedactArguments(args)
	var id [8]byte
	_, _ = rand.Read(id[:])
	job := "attach-" + hex.EncodeToString(id[:])
	m := record.Manifest{Job: job, CreatedUnixNS: now.UnixNano(), Command: args, Host: host, Version: Version()}
	dir := o.out
	var err error
	if dir == "" {
		dir, err = createBelow("bottleneck-out", fmt.Sprintf("attach-%d-%s", pid, now.Format("20060102-150405")), m)
	} else if err = collect.OwnDirectory(dir); err == nil {
		_, err = record.Create(dir, m)
	}
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	s := &session{shown: dir}
	if s.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("session directory: %w", err)
	}
	s.folder = filepath.Join(s.dir, record.LauncherPrefix+record.FolderName(host, os.Getpid(), now))
	if err := os.MkdirAll(s.folder, record.DirMode); err != nil {
		return nil, fmt.Errorf("session directory: %w", err)
	}
	exe, _ := proc.Exe(pid)
	cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	s.launcher = &record.Launcher{Host: host, PID: os.Getpid(), Version: Version(), Job: job, Command: args,
		Target: string(collect.TargetCommand), Interpreter: exe, CWD: cwd, StartUnixNS: now.UnixNano(), ChildPID: pid,
		Before: collect.ReadMachine()}
	return s, s.launcher.Write(s.folder)
}

// account writes what the recording cost and could not see.
func (s *session) account(sampler *collect.Sampler) error {
	(&watcher{sampler: sampler}).stop(s.launcher)
	s.launcher.AddNote("attached",
		"the program was already running when it was recorded: its steps, operators and exit status are not known")
	s.launcher.After = collect.ReadMachine()
	s.launcher.Own.CPUNS, s.launcher.Own.PeakRSS = collect.OwnCost()
	return s.launcher.Write(s.folder)
}

// onePID refuses anything but one argument of a command that follows one process with its children.
func onePID(command string, args []string) error {
	switch len(args) {
	case 0:
		return usage("%s: PID is missing; `pgrep -af python` lists Python processes", command)
	case 1:
		return nil
	}
	return usage("%s: give one PID; its children are followed with it", command)
}
