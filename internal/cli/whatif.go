package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// whatIfOptions are the flags of what-if.
type whatIfOptions struct {
	remove, scale []string
	workers       int
	ranksEqual    bool
	step          int64
	json, output  string
	measure       bool
	budget        time.Duration
	python        string
}

func newWhatIfCommand(a *app) *cobra.Command {
	o := &whatIfOptions{}
	cmd := &cobra.Command{
		Use:   "what-if [flags] [PATH…]",
		Short: "Say how long a step would take if something were removed, faster or slower",
		Long: "Replays the recorded steps on the graph of what waits for what (threads, launches, streams, calls that wait for the " +
			"device, DataLoader\nworkers and their queue, collectives across ranks) with the change, and prints where the step goes " +
			"before and after. Without a\npath it takes the newest session here.",
		Example: "  bottleneck what-if --remove input\n" +
			"  bottleneck what-if trace.json.gz --remove sync --scale matmul=0.5 --scale aten::cat=0\n" +
			"  bottleneck what-if bottleneck-out/train-20260131-120000 --workers 8\n" +
			"  bottleneck what-if ranks/ --ranks-equal",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return overwritten("what-if", "--json", o.json)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer func() {
				if broken := recover(); broken != nil { // as a report leaves out a table that fails, this leaves out its answer
					err = unusable(fmt.Errorf("what-if: %s cannot be replayed: internal error: %v", someOf(args), broken))
				}
			}()
			return o.run(cmd, a, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&o.remove, "remove", nil, "take these `CAUSES` away: input, sync, python, …")
	f.StringArrayVar(&o.scale, "scale", nil,
		"multiply the time of a kind, an operator or a kernel: `NAME=FACTOR`, like matmul=0.5 (can be repeated)")
	f.IntVar(&o.workers, "workers", 0, "let `N` workers prepare the batches (0 = none)")
	f.BoolVar(&o.ranksEqual, "ranks-equal", false, "let no rank wait for a late one")
	f.Int64Var(&o.step, "step", 0, "answer for step `N` only")
	f.BoolVar(&o.measure, "measure", false,
		"run the hottest recorded operators again, as they were and with other threads, in lower precision, channels-last")
	f.DurationVar(&o.budget, "bench-budget", defaultBenchBudget,
		"how long --measure may repeat them, from when Python has imported torch on, `TIME` like 5s")
	f.StringVar(&o.python, "python", "", "`INTERPRETER` for --measure (default: python3, else python, of the active environment)")
	f.StringVar(&o.json, "json", "", "write the answer's document to `FILE` (- = standard output)")
	f.StringVarP(&o.output, "output", "o", "", "write the text to `FILE`")
	return cmd
}

func (o *whatIfOptions) run(cmd *cobra.Command, a *app, args []string) error {
	if len(o.remove) == 0 && len(o.scale) == 0 && !cmd.Flags().Changed("workers") && !o.ranksEqual && !o.measure {
		return usage("what-if: nothing to change: give --remove, --scale, --workers, --ranks-equal or --measure")
	}
	if o.budget <= 0 || o.budget > time.Hour {
		return usage("--bench-budget: %v is not between 0 and an hour", o.budget)
	}
	args, err := a.orNewest("what-if", args)
	if err != nil {
		return err
	}
	if !o.measure { // which starts Python
		a.confine(cmd.Context(), needs{inputs: args, outputs: []string{o.output, o.json}})
	}
	s, r, err := a.replayOf(cmd.Context(), args)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("step") && !r.PerStep() {
		return usage("--step: no steps were recorded: answers are about the %s", r.Basis())
	}
	if cmd.Flags().Changed("step") && !r.Only(o.step) {
		return usage("--step: %d is none of the %s; they are %s", o.step, r.Basis(), ranges(r.StepNumbers()))
	}
	change, words, err := o.change(cmd, r)
	if err != nil {
		return err
	}
	answer, err := r.Ask(change)
	if unknown := (*replay.UnknownName)(nil); errors.As(err, &unknown) {
		return unknownName(r, unknown.Name)
	} else if err != nil {
		return unusable(err)
	}
	doc := view.BuildWhatIf(r, cmp.Or(words, "nothing changed"), answer)
	doc.Tool = Version()
	if o.measure {
		python, err := interpreterFor(o.python)
		if err != nil {
			return err
		}
		doc.Measured, err = measure(cmd.Context(), s, python, o.budget)
		if asked := len(words) > 0; err != nil && (!asked || cmd.Context().Err() != nil) {
			return err
		} else if err != nil {
			doc.Notes = append(doc.Notes, fmt.Sprintf("nothing was measured: %v", cause(err)))
		}
	}
	return o.write(a, doc)
}

// replayOf reads paths and prepares their replay.
func (a *app) replayOf(ctx context.Context, paths []string) (*model.Session, *replay.Session, error) {
	paths, cleanup, err := a.unpackAll(ctx, paths)
	defer cleanup()
	if err != nil {
		return nil, nil, err
	}
	s, err := a.load(ctx, paths, ingest.Options{})
	if err != nil {
		return nil, nil, err
	}
	r := replay.ForQuestions(s, account.Of(s, account.Driver(s)))
	switch {
	case r == nil && replay.Synchronous(s):
		return nil, nil, unusable(fmt.Errorf("what-if: the launches of %s waited for the device (CUDA_LAUNCH_BLOCKING=1), so that its "+
			"traces do not tell what an ordinary run does meanwhile; record one without --cuda-blocking", paths[0]))
	case r == nil:
		return nil, nil,
			unusable(fmt.Errorf("what-if: %s holds neither steps nor a complete trace to replay; record some with: bottleneck run",
				paths[0]))
	}
	return s, r, nil
}

// ranges writes ascending numbers as "3, 12 to 19, 28 to 31"; of very many stretches the first and the last.
func ranges(numbers []int64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		part := strconv.FormatInt(numbers[i], 10)
		if k > i {
			part += fmt.Sprintf(" to %d", numbers[k])
		}
		parts, i = append(parts, part), k+1
	}
	if n := len(parts); n > 8 {
		parts = append(append(parts[:6:6], "…"), parts[n-1])
	}
	return strings.Join(parts, ", ")
}

// change turns the flags into a question, and into words.
func (o *whatIfOptions) change(cmd *cobra.Command, r *replay.Session) (c replay.Change, words string, err error) {
	var said []string
	for _, cause := range o.remove {
		one, _ := r.Removal(cause)
		ok := r.TakesTime(cause)
		if !ok && r.Removable(cause) && cause != "straggler" {
			return c, "", usage("--remove: %q takes no time in the %s; can be taken away: %s", cause, r.Basis(),
				strings.Join(r.Causes(), ", "))
		}
		if !ok {
			return c, "", usage("--remove: %q cannot be taken away from the %s%s; can be: %s", cause, r.Basis(),
				didYouMean(cause, r.Causes()), strings.Join(r.Causes(), ", "))
		}
		c = c.And(one)
		said = append(said, cause+" were gone")
	}
	for _, text := range o.scale {
		at := strings.LastIndex(text, "=")
		if at <= 0 {
			return c, "", usage("--scale %q: write NAME=FACTOR, like matmul=0.5", text)
		}
		factor, err := strconv.ParseFloat(text[at+1:], 64)
		if err != nil || !(factor >= 0 && factor <= 1000) {
			return c, "", usage("--scale %q: the factor must be a number from 0 to 1000", text)
		}
		c.Scale = append(c.Scale, replay.Scale{Name: text[:at], Factor: factor})
		said = append(said, fmt.Sprintf("%s took %g of its time", text[:at], factor))
	}
	if cmd.Flags().Changed("workers") {
		if o.workers < 0 || o.workers > 1024 {
			return c, "", usage("--workers: %d is not a number from 0 to 1024", o.workers)
		}
		if !r.Unprofiled() {
			return c, "", usage("--workers: a trace does not hold what DataLoader workers did; record a session with: bottleneck run")
		}
		if !r.Fetches() {
			return c, "", usage("--workers: no batch that the %s waited for has its preparation by a DataLoader recorded", r.Basis())
		}
		if c.Workers = o.workers; o.workers == 0 {
			c.Workers = replay.NoWorkers
		}
		said = append(said, fmt.Sprintf("%d workers prepared the batches", o.workers))
	}
	if o.ranksEqual {
		if !r.Meets() {
			return c, "",
				usage(
					"--ranks-equal: the %s do not show ranks that wait for one another; give the traces of all ranks, or a session of them",
					r.Basis())
		}
		c.RanksEqual = true
		said = append(said, "no rank waited for a late one")
	}
	return c, strings.Join(said, ", "), nil
}

// unknownName says what is near a name that the session does not hold.
func unknownName(r *replay.Session, name string) error {
	hint := ""
	if r.Unprofiled() && strings.Contains(name, "::") {
		hint = "; single operators are known of traced steps only: ask about one of the session's trace-*.json.gz"
	}
	return usage("what-if: nothing recorded takes time under the name %q%s%s; kinds are: %s", name, didYouMean(name, r.Names()), hint,
		strings.Join(r.Kinds(), ", "))
}

func (o *whatIfOptions) write(a *app, doc *view.WhatIf) error {
	out := &reportOptions{}
	if o.json != "" {
		err := out.toFile(a, o.json, func(w io.Writer) error { return view.WriteWhatIfJSON(w, doc) })
		if err != nil || o.json == "-" && o.output == "" {
			return err
		}
	}
	text := func(w io.Writer) error {
		safe := view.Safe(w, false)
		_, err := io.WriteString(safe, view.WhatIfText(doc))
		return errors.Join(err, safe.Close())
	}
	if o.output != "" {
		return out.toFile(a, o.output, text)
	}
	return text(a.stdout)
}
