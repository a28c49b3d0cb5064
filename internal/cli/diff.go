package cli

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	per          string
	anyway, all  bool
	json, output string
}

func newDiffCommand(a *app) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff [flags] BEFORE AFTER",
		Short: "Say whether a program became slower or faster, by how much, and because of what",
		Long: "Compares two of anything that report reads. The first line is the answer; then what differs around it, exact counters, " +
			"and an account\nof the difference by parts, lines, functions, operators, kernels, … in which all rows sum to the step's " +
			"difference.\n\nTimes differ from run to run, so that one run a side decides by counters only. Give each side several runs, " +
			"four at least: a directory\nwith several sessions is a side of that many runs; or list the runs of both sides with -- " +
			"between them.",
		Example: "  bottleneck diff bottleneck-out/train-20260131-120000 bottleneck-out/train-20260131-130000\n" +
			"  bottleneck diff before/ after/                # directories of sessions, one a run\n" +
			"  bottleneck diff a1.json a2.json a3.json a4.json -- b1.json b2.json b3.json b4.json\n" +
			"  bottleneck diff --per item small-batch/ large-batch/\n" +
			"  bottleneck diff --json diff.json before.json.gz after.json.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			sides, err := twoSides(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, sides)
		},
	}
	cmd.Flags().SortFlags = false
	o.addTo(cmd.Flags())
	return cmd
}

// addTo declares what every comparison can be asked.
func (o *diffOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.per, "per", "", "compare the time of a `UNIT`: "+strings.Join(compare.Units(), ", ")+
		" (default: step, where both sides have steps)")
	f.BoolVar(&o.anyway, "anyway", false, "compare also what is not the same workload")
	f.BoolVar(&o.all, "all", false, "print every row")
	f.StringVar(&o.json, "json", "", "write the comparison's document to `FILE` (- = standard output)")
	f.StringVarP(&o.output, "output", "o", "", "write the text to `FILE`")
}

// check looks at what the flags say.
func (o *diffOptions) check() error {
	return oneOf("--per", o.per, append([]string{""}, compare.Units()...)...)
}

// twoSides are the paths of both sides.
func twoSides(cmd *cobra.Command, args []string) ([2][]string, error) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		if dash == 0 || dash == len(args) {
			return [2][]string{}, usage("diff: runs are missing on one side of --: bottleneck diff BEFORE… -- AFTER…")
		}
		return [2][]string{args[:dash], args[dash:]}, nil
	}
	if len(args) != 2 {
		return [2][]string{},
			usage("diff: needs two sides, BEFORE and AFTER, and has %d; several runs a side: bottleneck diff BEFORE… -- AFTER…", len(args))
	}
	return [2][]string{args[:1], args[1:]}, nil
}

func (o *diffOptions) run(ctx context.Context, a *app, paths [2][]string) error {
	if err := o.check(); err != nil {
		return err
	}
	a.confine(ctx, needs{inputs: append(slices.Clone(paths[0]), paths[1]...), outputs: []string{o.output, o.json}, scratch: true})
	var sides [2]compare.Side
	for i := range paths {
		var err error
		if sides[i], err = a.readSide(ctx, paths[i]); err != nil {
			return err
		}
	}
	d, err := compare.Diff(sides[0], sides[1], compare.Options{Per: o.per, Anyway: o.anyway, Version: Version()})
	if err != nil {
		return unusable(fmt.Errorf("diff: %w", err))
	}
	if err := o.write(a, d); err != nil {
		return err
	}
	if d.Verdict == report.Unlike {
		return &exitError{exitNo, nil}
	}
	return nil
}

func (o *diffOptions) write(a *app, d *report.Diff) error {
	out := &reportOptions{}
	if o.json != "" {
		err := out.toFile(a, o.json, func(w io.Writer) error { return report.WriteDiffJSON(w, d) })
		if err != nil || o.json == "-" && o.output == "" {
			return err
		}
	}
	text := func(w io.Writer) error {
		return view.WriteDiff(w, d, view.DiffTextOptions{Width: width(w), Color: a.useColor(w), All: o.all})
	}
	if o.output != "" {
		return out.toFile(a, o.output, text)
	}
	return text(a.stdout)
}
