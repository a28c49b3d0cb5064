package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/turns"
	"bottleneck/internal/units"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// abOptions are the flags of ab that neither run nor diff has.
type abOptions struct {
	run    runOptions
	diff   diffOptions
	runs   int
	budget time.Duration
	rev    string
}

// Bounds of runs in turns: how many pairs at most, how long they may take where neither is said, and how long each run waits for a quiet
// machine.
const (
	mostPairs    = 100
	usualBudget  = 10 * time.Minute
	settleBefore = 2 * time.Second
)

func newABCommand(a *app) *cobra.Command {
	o := &abOptions{}
	cmd := &cobra.Command{
		Use:   "ab [flags] -- COMMAND_A… -- COMMAND_B… | --rev REV -- COMMAND…",
		Short: "Run two commands, or a git revision and the working tree, in turns, and say which is faster",
		Long: "Runs both sides in turns, in a balanced order, each as run does, until it is decided which is faster or that they are " +
			"equal within 2 %.\nThe interval holds whenever it stops, so that Ctrl-C, too, gives the answer so far. What the programs " +
			"print goes to files.\n\nWith --rev one side is a git revision in a temporary worktree, which is removed afterwards, and the " +
			"other the working tree as it is,\nwith what is not committed. Ignored files, such as data, are the same for both.\n\n" +
			"The sessions stay, for diff, report and gate: OUT/a/ and OUT/b/.",
		Example: "  bottleneck ab -- python train.py --workers 0 -- python train.py --workers 2\n" +
			"  bottleneck ab --budget 3m -- env OMP_NUM_THREADS=1 python train.py -- env OMP_NUM_THREADS=2 python train.py\n" +
			"  bottleneck ab --rev HEAD~1 -- python train.py\n" +
			"  bottleneck ab --runs 8 --json ab.json --out compared/ --rev main -- python -m pkg.train --steps 200",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.start(cmd, a, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.SortFlags = false
	f.IntVar(&o.runs, "runs", 0, "run each side `N` times at most")
	f.DurationVar(&o.budget, "budget", 0, "start no pair that would end after this `TIME` (default 10m without --runs)")
	f.StringVar(&o.rev, "rev", "", "compare git revision `REV` with the working tree, both running the same command")
	o.diff.addTo(f)
	o.run.addTo(f)
	f.Lookup("out").Usage = "`DIR` for the sessions of both sides (default bottleneck-out/ab-<time>)"
	return cmd
}

// start reads the command line.
func (o *abOptions) start(cmd *cobra.Command, a *app, args []string) error {
	o.run.rate = samplingRate
	if err := o.run.check(cmd); err != nil {
		return err
	}
	if err := o.diff.check(); err != nil {
		return err
	}
	switch {
	case o.runs < 0 || o.runs > mostPairs:
		return usage("--runs: %d is not between 1 and %d", o.runs, mostPairs)
	case o.budget < 0:
		return usage("--budget must not be negative")
	case o.runs == 0 && o.budget == 0:
		o.budget = usualBudget
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	var variants [2]variant
	if o.rev != "" {
		command, err := oneCommand("ab", cmd, args)
		if err != nil {
			return err
		}
		tree, err := checkOut(ctx, o.rev)
		if err != nil {
			return err
		}
		defer tree.remove(a)
		if variants, err = tree.variants(command); err != nil {
			return err
		}
	} else {
		sides, err := twoCommands(cmd, args)
		if err != nil {
			return err
		}
		variants = [2]variant{{name: "a", target: targetOf(sides[0])}, {name: "b", target: targetOf(sides[1])}}
	}
	return o.compare(ctx, a, variants)
}

// twoCommands are the commands of both sides, with -- before each.
func twoCommands(cmd *cobra.Command, args []string) ([2][]string, error) {
	const form = "bottleneck ab -- COMMAND_A… -- COMMAND_B…"
	if cmd.ArgsLenAtDash() != 0 {
		return [2][]string{}, usage("ab: both commands come after a --: %s", form)
	}
	var dashes []int
	for i, arg := range args {
		if arg == "--" {
			dashes = append(dashes, i)
		}
	}
	switch {
	case len(dashes) == 0:
		return [2][]string{}, usage("ab: the second command is missing: %s", form)
	case len(dashes) > 1:
		return [2][]string{},
			usage("ab: has %d times --, and it is not clear which one is between the commands; put a command that needs one into a script",
				len(dashes)+1)
	}
	sides := [2][]string{args[:dashes[0]], args[dashes[0]+1:]}
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return sides, usage("ab: a command is missing: %s", form)
	}
	return sides, nil
}

// oneCommand is the command after --.
func oneCommand(name string, cmd *cobra.Command, args []string) ([]string, error) {
	if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
		return nil, usage("%s: the command comes after --: bottleneck %s --rev REV -- COMMAND…", name, name)
	}
	return args, nil
}

// targetOf is what a command line runs; one that begins with a script is run by the environment's Python.
func targetOf(command []string) collect.Target {
	kind := collect.TargetCommand
	if strings.HasSuffix(command[0], ".py") {
		kind = collect.TargetScript
	}
	return collect.Target{Kind: kind, Name: command[0], Args: command[1:]}
}

// compare runs the variants in turns and prints the answer.
func (o *abOptions) compare(ctx context.Context, a *app, variants [2]variant) error {
	r, err := newRepeater(a, &o.run, o.run.out, "ab", variants)
	if err != nil {
		return err
	}
	options := turns.Options{Pairs: o.runs, Budget: o.budget, Settle: settleBefore}
	if o.runs == 0 {
		options.Pairs = mostPairs
	}
	var last *report.Diff
	outcome, err := turns.Run(ctx, options, r.measure, func(pairs [][2]ranOnce) (bool, error) {
		var err error
		if last, err = o.judge(r, pairs); err != nil {
			return false, unusable(fmt.Errorf("ab: %w", err))
		}
		r.progress(pairs, last)
		return last.Verdict != report.Undecided, nil
	})
	if err != nil {
		return err
	}
	for _, failed := range r.failures(outcome.Failures) {
		a.warn("%s", failed)
	}
	if last == nil {
		return nothingCompared(r, outcome)
	}
	last.InTurns.Stopped = outcome.Stopped
	last.InTurns.Failed = append(last.InTurns.Failed, r.failures(outcome.Failures)...)
	last.Notes = append(last.Notes, interference(r, outcome.Pairs)...)
	if err := o.diff.write(a, last); err != nil {
		return err
	}
	a.warn("the sessions are in %s; see them by: bottleneck diff %s %s", r.out, filepath.Join(r.out, variants[0].name),
		filepath.Join(r.out, variants[1].name))
	if last.Verdict == report.Unlike {
		return &exitError{exitNo, nil}
	}
	return nil
}

// judge compares the pairs so far.
func (o *abOptions) judge(r *repeater, pairs [][2]ranOnce) (*report.Diff, error) {
	sides := r.sides(pairs)
	return compare.Diff(sides[0], sides[1], compare.Options{Per: o.diff.per, Anyway: o.diff.anyway, Version: Version(), InTurns: true})
}

// progress prints one line for a pair.
func (r *repeater) progress(pairs [][2]ranOnce, d *report.Diff) {
	n := len(pairs) - 1
	if n >= len(d.Before.Runs) || n >= len(d.After.Runs) {
		return
	}
	fmt.Fprintf(r.stderr, "pair %d: %s %s, %s %s a %s (%s, %s)\n", n+1, r.variants[0].name, units.Milliseconds(d.Before.Runs[n].Ms),
		r.variants[1].name, units.Milliseconds(d.After.Runs[n].Ms), d.Per, units.Seconds(pairs[n][0].wall.Seconds()),
		units.Seconds(pairs[n][1].wall.Seconds()))
}

// nothingCompared says why there is no pair.
func nothingCompared(r *repeater, outcome turns.Outcome[ranOnce]) error {
	if outcome.Stopped == turns.Interrupted {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted before the first pair was complete: nothing is compared")}
	}
	for _, f := range outcome.Failures {
		return unusable(fmt.Errorf("nothing is compared: %s fails; what it wrote is in %s", r.variants[f.Side].name,
			filepath.Join(r.out, "output")))
	}
	return unusable(fmt.Errorf("nothing is compared: no pair was run"))
}

// crowded is how many cores of others make a run one that was disturbed.
const crowded = 0.25

// interference says which runs shared the machine with other programs.
func interference(r *repeater, pairs [][2]ranOnce) []string {
	sum, most, count, where := 0.0, 0.0, 0, ""
	for i, p := range pairs {
		for side := range p {
			busy := p[side].run.Report.Environment.OthersBusyCores
			if busy == nil || *busy < crowded {
				continue
			}
			sum += *busy
			count++
			if *busy > most {
				most, where = *busy, fmt.Sprintf("%s, run %d", r.variants[side].name, i+1)
			}
		}
	}
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("other programs ran beside %d of the %d runs: they kept %s cores busy on average, at most %s (%s)",
		count, 2*len(pairs), units.Digits(sum/float64(count)), units.Digits(most), where)}
}
