package cli

import (
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// exportOptions are the flags of export.
type exportOptions struct {
	to, output     string
	list, diff     bool
	rank           int
	device, metric string
	worker         string
	gzip           bool
	groupBy        []string
	sortBy         string
	rowLimit       int
	samples        report.SampleChoice
}

func newExportCommand(a *app) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export --to FORMAT [-o FILE] [PATH…]",
		Short: "Write sessions and traces in the formats of other tools",
		Long:  "Writes sessions and traces in the formats of other tools. Without a path it takes the newest session here.",
		Example: "  bottleneck export --to chrome -o trace.json.gz bottleneck-out/train-20260131-120000\n" +
			"  bottleneck export --to csv trace.json > operators.csv\n" +
			"  bottleneck export --to folded --diff before/ after/ | flamegraph.pl --negate > difference.svg\n" +
			"  bottleneck export --to html --diff before/ after/ -o compared.html\n" +
			"  bottleneck export --list",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.list {
				return a.listFormats()
			}
			return a.export(cmd, o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.to, "to", "", "`FORMAT`; --list names them")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` or directory (default: standard output)")
	f.BoolVar(&o.list, "list", false, "list the formats")
	f.BoolVar(&o.diff, "diff", false, "write what differs between two sessions, BEFORE and AFTER (folded, html, pprof, speedscope)")
	f.IntVar(&o.rank, "rank", model.NoRank, "only this `RANK`")
	f.StringVar(&o.device, "device", "", "`DEVICE` of a memory timeline, like cuda:0 or cpu")
	f.StringVar(&o.metric, "metric", "", "what stacks are weighted by: `METRIC` like self_cpu_time_total")
	f.StringVar(&o.worker, "worker", "", "`NAME` of the process in a TensorBoard directory")
	f.BoolVar(&o.gzip, "gzip", false, "compress the files of a directory")
	f.StringSliceVar(&o.groupBy, "group-by", nil, "split key averages by `KEYS`: input-shape, stack=N")
	f.BoolVar(&o.samples.GIL, "gil", false, "only samples of threads that hold the GIL")
	f.BoolVar(&o.samples.Idle, "idle", false,
		"stacks of threads that wait for work too, in formats that leave them out (folded, speedscope)")
	f.StringVar(&o.sortBy, "sort-by", "", "sort key averages by `COLUMN`")
	f.IntVar(&o.rowLimit, "row-limit", -1, "at most `N` rows of key averages (-1 = all)")
	return cmd
}

func (a *app) listFormats() error {
	for _, f := range export.Formats() {
		fmt.Fprintf(a.stdout, "%-16s %s\n", f.Name, f.Description)
	}
	return nil
}

func (a *app) export(cmd *cobra.Command, o *exportOptions, args []string) error {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	if o.to == "" {
		return usage("export: --to FORMAT is missing; --list names them")
	}
	if err := oneOf("--to", o.to, names...); err != nil {
		return err
	}
	format, err := export.Find(o.to)
	if err != nil {
		return usage("%v", err)
	}
	if o.diff {
		return a.exportDiff(cmd.Context(), o, format, args)
	}
	o.sortBy = deviceWord.Replace(o.sortBy)
	if err := oneOf("--sort-by", o.sortBy, append([]string{""}, view.TorchSortKeys()...)...); err != nil {
		return err
	}
	group := &reportOptions{groupBy: o.groupBy, style: "report"}
	if err := group.check(cmd); err != nil {
		return err
	}
	if format.WriteDir != nil && o.output == "" {
		return usage("export --to %s writes a directory; name it with -o", o.to)
	}
	if args, err = a.orNewest("export", args); err != nil {
		return err
	}
	a.confine(cmd.Context(), needs{inputs: args, outputs: []string{o.output}})
	paths, cleanup, err := a.unpackAll(cmd.Context(), args)
	defer cleanup()
	if err != nil {
		return err
	}
	s, err := a.load(cmd.Context(), paths, ingest.Options{})
	if err != nil {
		return err
	}
	chooseSamples(s, o.samples, format.Name)
	opt := export.Options{Device: o.device, Metric: o.metric, Rank: o.rank, Worker: o.worker, Gzip: o.gzip,
		GroupByInputShapes: group.build.GroupByInputShape, GroupByStackN: group.build.GroupByStack,
		GroupByModule: group.build.GroupByModule, SortBy: o.sortBy, RowLimit: o.rowLimit, Version: Version(), Source: args[0]}
	return writeExport(cmd.Context(), s, format, o.output, opt, a.stdout)
}

// writeExport writes s to path, or to stdout where that is empty or "-".
func writeExport(ctx context.Context, s *model.Session, format export.Format, path string, opt export.Options, stdout io.Writer) error {
	var err error
	if path != "" && path != "-" {
		err = export.WriteFile(ctx, s, format, path, opt)
	} else {
		err = format.Write(ctx, s, stdout, opt)
	}
	var nothing *export.UnavailableError
	if errors.As(err, &nothing) {
		return unusable(err)
	}
	if err != nil {
		return unusable(fmt.Errorf("export --to %s: %w", format.Name, err))
	}
	return nil
}
