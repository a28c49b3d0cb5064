package cli

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/turns"
	"bottleneck/internal/view"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// proveOptions are the flags of prove.
type proveOptions struct {
	finding, runs  int
	budget         time.Duration
	steps          int64
	yes, temporary bool
	compared       []string
	out, patch     string
	json, output   string
}

func newProveCommand(a *app) *cobra.Command {
	o := &proveOptions{}
	cmd := &cobra.Command{
		Use:   "prove [flags] [SESSION]",
		Short: "Make a finding's change in a copy of the program, and measure what it saves",
		Long: "Makes the change that a finding proposes in a copy of the sources (or in the environment), runs the recorded command as " +
			"it was and changed,\nin turns, until the saving is known, and prints what was promised beside what is proven. The change is " +
			"written as a patch.\nThe files and the git state stay as they are; both sides run from a folder of links to them.\n\n" +
			"Without SESSION it takes the newest one here. It runs the command that the session names: prove sessions of your own only.",
		Example: "  bottleneck prove\n" +
			"  bottleneck prove bottleneck-out/train-20260131-120000 --finding 2\n" +
			"  bottleneck prove --budget 3m --json proof.json before/\n" +
			"  bottleneck prove --in-temporary-directory --steps 200 before/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("prove: takes one SESSION, and got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			args, err := a.orNewest("prove", args)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return o.run(ctx, a, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.finding, "finding", 0, "prove finding `N` of the report (default: the first that has a change which a program can make)")
	f.IntVar(&o.runs, "runs", 0, "run each side `N` times at most")
	f.DurationVar(&o.budget, "budget", usualBudget, "start no pair that would end after this `TIME`")
	f.Int64Var(&o.steps, "steps", 0, "end each run after `N` steps (default: whole runs, as far as the budget has room for some)")
	f.BoolVar(&o.yes, "yes", false, "run it although each run may write over the other's files, or starts several ranks")
	f.BoolVar(&o.temporary, "in-temporary-directory", false,
		"run in a temporary copy of the working directory, so that new files go with it")
	f.StringArrayVar(&o.compared, "compare", nil, "compare state dicts, too, that each run saves as `FILE` (can be repeated)")
	f.StringVar(&o.out, "out", "", "`DIR` for the sessions of both sides (default bottleneck-out/prove-<time>)")
	f.StringVar(&o.patch, "patch", "", "write the change to `FILE` (default DIR/finding-<n>.patch)")
	f.StringVar(&o.json, "json", "", "write the proof's document to `FILE` (- = standard output)")
	f.StringVarP(&o.output, "output", "o", "", "write the text to `FILE`")
	return cmd
}

func (o *proveOptions) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("finding") && o.finding < 1:
		return usage("--finding: findings are counted from 1")
	case o.runs < 0 || o.runs > mostPairs:
		return usage("--runs: %d is not between 1 and %d", o.runs, mostPairs)
	case o.budget <= 0:
		return usage("--budget must be above 0")
	case o.steps < 0:
		return usage("--steps must not be negative")
	}
	return nil
}

// run proves a finding of a session.
func (o *proveOptions) run(ctx context.Context, a *app, session string) error {
	t, err := o.trial(ctx, a, session)
	if err != nil {
		return err
	}
	opt := &runOptions{rate: samplingRate, maxSize: "2GiB", maxBytes: 2 << 30, given: map[string]string{}}
	opt.config.MaxBytes = opt.maxBytes
	if o.steps > 0 {
		opt.config.Steps, opt.config.StopAfter = o.steps, true
	}
	r, err := newRepeater(a, opt, o.out, "prove", [2]variant{{name: "original"}, {name: "changed"}})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bottleneck-prove-")
	if err != nil {
		return unusable(cause(err))
	}
	defer os.RemoveAll(folder)
	if r.variants, err = t.variants(folder); err != nil {
		return err
	}
	for i := range r.variants {
		r.variants[i].saved = o.compared
	}
	a.warn("finding %d: %s; running %s, original and changed in turns", t.number, t.change.words, commandLine(t.launcher.Command))
	if b := t.change.ablate; b != nil && b.secondStart {
		if err := r.firstStart(ctx); err != nil {
			return err
		}
	}
	p, err := o.prove(ctx, r, t)
	if err != nil {
		return err
	}
	return o.write(a, p)
}

// prove runs both sides and judges.
func (o *proveOptions) prove(ctx context.Context, r *repeater, t *trial) (*report.Proof, error) {
	options := turns.Options{Pairs: o.runs, Budget: o.budget, Settle: settleBefore}
	if o.runs == 0 {
		options.Pairs = mostPairs
	}
	var step, run *report.Diff
	outcome, err := turns.Run(ctx, options, r.measure, func(pairs [][2]ranOnce) (bool, error) {
		var err error
		if step, run, err = o.judge(r, pairs); err != nil {
			return false, unusable(fmt.Errorf("prove: %w", err))
		}
		d := run
		if step != nil && t.perStep() {
			d = step
		}
		r.progress(pairs, d)
		return compare.ProofDecided(d), nil
	})
	if err != nil {
		return nil, err
	}
	p, level := t.document(), 0.0
	if run != nil {
		level = run.InTurns.Level
	}
	p.InTurns = report.DiffTurns{Pairs: len(outcome.Pairs), Level: level, Stopped: outcome.Stopped, Failed: r.failures(outcome.Failures)}
	if run == nil {
		if len(outcome.Failures) > 0 && outcome.Failures[0].Side == turns.After {
			if t.change.ablate != nil {
				return nil, noBound(outcome.Failures[0].Err)
			}
			p.Verdict, p.Outputs = report.ProofFails, report.OutputsDiffer
			p.Difference = outcome.Failures[0].Err.Error()
			p.Sentence = "the changed program fails."
			return p, nil
		}
		for _, text := range p.InTurns.Failed {
			r.warn("%s", text)
		}
		return nil, nothingCompared(r, outcome)
	}
	if !t.perStep() {
		step = nil
	}
	p.Patch, err = t.writePatch(o.patch, r.out)
	if err != nil {
		return nil, err
	}
	compare.FillProof(p, step, run)
	if o.steps > 0 {
		p.Proven.RunS = nil
		p.Notes = append(p.Notes, fmt.Sprintf("runs were ended after %d steps: the saving is of a step", o.steps))
	}
	o.outputs(p, outcome.Pairs)
	o.states(ctx, p, t, outcome.Pairs)
	p.Notes = append(p.Notes, interference(r, outcome.Pairs)...)
	return p, nil
}

// judge compares the pairs so far, per step where both sides have steps, and per run.
func (o *proveOptions) judge(r *repeater, pairs [][2]ranOnce) (step, run *report.Diff, err error) {
	sides := r.sides(pairs)
	opt := compare.Options{Anyway: true, Version: Version(), InTurns: true, Proof: true}
	if step, err = compare.Diff(sides[0], sides[1], opt); err != nil {
		return nil, nil, err
	}
	if step.Per == "run" {
		return nil, step, nil
	}
	opt.Per = "run"
	run, err = compare.Diff(sides[0], sides[1], opt)
	return step, run, err
}

// outputs compares what both sides wrote.
func (o *proveOptions) outputs(p *report.Proof, pairs [][2]ranOnce) {
	p.Outputs = report.OutputsUnknown
	if p.Bound {
		p.Difference = "what was run is a bound, not a fix"
		return
	}
	if len(pairs) < 2 {
		p.Difference = "one pair does not tell what differs from run to run"
		return
	}
	var texts [2][]string
	for _, pair := range pairs {
		for side := range texts {
			text, err := readOutput(pair[side].stdout)
			if err != nil {
				p.Difference = err.Error()
				return
			}
			texts[side] = append(texts[side], text)
		}
	}
	apart := ""
	for _, after := range texts[1] {
		d, unsteady, some := compare.Outputs(texts[0], after)
		switch {
		case d != "":
			p.Outputs, p.Difference = report.OutputsDiffer, d
			return
		case !some:
			p.Difference = "the original does not repeat itself from run to run: " + unsteady
			return
		}
		apart = unsteady
	}
	if apart != "" {
		p.Notes = append(p.Notes, "the original does not repeat itself here, which was not compared: "+apart)
	}
	p.Outputs = report.OutputsSame
}

// states compares what both sides saved, where that was asked for and what they wrote is the same.
func (o *proveOptions) states(ctx context.Context, p *report.Proof, t *trial, pairs [][2]ranOnce) {
	if len(o.compared) == 0 || p.Bound || p.Outputs == report.OutputsDiffer || len(pairs) < 2 {
		return
	}
	python, err := interpreterFor(t.python)
	for i := range o.compared {
		var text string
		if err == nil {
			var originals []string
			for _, pair := range pairs[:min(len(pairs), mostStates)] {
				originals = append(originals, pair[0].saved[i])
			}
			text, err = statesDiffer(ctx, python, originals, pairs[0][1].saved[i])
		}
		switch {
		case err != nil:
			p.Outputs, p.Difference = report.OutputsUnknown, err.Error()
			return
		case text != "":
			p.Outputs, p.Difference = report.OutputsDiffer, o.compared[i]+": "+text
			return
		}
	}
	p.Notes = append(p.Notes, "the saved states are the same, too: "+strings.Join(o.compared, ", "))
}

// mostStates bounds how many runs' saved states are read to know how far they differ by themselves.
const mostStates = 4

// mostOutput bounds what is compared of a program's output.
const mostOutput = 16 << 20

func readOutput(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", cause(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostOutput+1))
	if err == nil && len(text) > mostOutput {
		err = fmt.Errorf("more than %d MiB of output", mostOutput>>20)
	}
	return string(text), err
}

func (o *proveOptions) write(a *app, p *report.Proof) error {
	out := &reportOptions{}
	if o.json != "" {
		err := out.toFile(a, o.json, func(w io.Writer) error { return report.WriteProofJSON(w, p) })
		if err != nil || o.json == "-" && o.output == "" {
			return err
		}
	}
	text := func(w io.Writer) error {
		return view.WriteProof(w, p, view.DiffTextOptions{Width: width(w), Color: a.useColor(w)})
	}
	var err error
	if o.output != "" {
		err = out.toFile(a, o.output, text)
	} else {
		err = text(a.stdout)
	}
	if err == nil && (p.Verdict == report.ProofFails || p.Outputs == report.OutputsDiffer) {
		return &exitError{exitNo, nil}
	}
	return err
}

// writePatch writes a trial's change, where it is one of a file, and gives its path.
func (t *trial) writePatch(path, out string) (string, error) {
	text := t.patch()
	if text == "" {
		return "", nil
	}
	if path == "" {
		path = filepath.Join(out, fmt.Sprintf("finding-%d.patch", t.number))
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		return "", unusable(fmt.Errorf("write the patch: %w", err))
	}
	return path, nil
}
