package cli

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newReportCommand(a *app) *cobra.Command {
	o := &reportOptions{}
	cmd := &cobra.Command{
		Use:   "report [flags] [PATH…]",
		Short: "Print the report of sessions or of traces that others recorded",
		Long: "Reads session directories (also growing ones), files that `pack` made, traces of torch.profiler, and directories of them\n" +
			"(every rank in one report); - reads standard input. Without a path it takes the newest session here.",
		Example: "  bottleneck report\n" +
			"  bottleneck report bottleneck-out/train-20260131-120000\n" +
			"  bottleneck report trace.json.gz --events --json - | head\n" +
			"  bottleneck report --source train.py bottleneck-out/train-20260131-120000\n" +
			"  bottleneck report traces/ --rank 0-7 --json report.json\n" +
			"  bottleneck report trace.json.gz --step 12 --section gpu,kernels\n" +
			"  bottleneck report trace.json.gz --style torch --sort-by self_cpu_time_total --row-limit 20",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return overwritten("report", "--json", o.json)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			args, err := a.orNewest("report", args)
			if err != nil {
				return err
			}
			a.confine(cmd.Context(), needs{inputs: args, outputs: []string{o.output, o.json, o.reportDir},
				anything: o.samples.source != ""})
			if o.events {
				return o.printEvents(cmd.Context(), a, args)
			}
			return o.print(cmd.Context(), a, a.stdout, args, args[0], false)
		},
	}
	cmd.Flags().SortFlags = false
	o.gpu.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&o.events, "events", false, "write the raw events behind the operator table to --json, one object a line")
	o.samples.addSourceTo(cmd.Flags())
	o.window.addTo(cmd.Flags())
	o.addTo(cmd.Flags())
	return cmd
}

// print reads paths and writes their report: text to w or --output, the document to --json. shown is how the user would
// name the first of paths; keep saves the program texts that the report shows into that session.
func (o *reportOptions) print(ctx context.Context, a *app, w io.Writer, paths []string, shown string, keep bool) error {
	window, err := o.window.window()
	if err != nil {
		return err
	}
	paths, cleanup, err := a.unpackAll(ctx, paths)
	defer cleanup()
	if err != nil {
		return err
	}
	opt := ingest.Options{Rank: o.build.Ranks}
	if opt.Survey, err = survey(paths); err != nil {
		return err
	}
	build := o.build
	build.Path = shown
	if len(paths) == 1 && !o.fixes.measure {
		build.Measured = savedMeasured(a, paths[0])
	}
	if o.json == "" {
		build.Sections = o.text.Shown() // the document always holds every table
	}
	if o.style == "report" && o.samples.source == "" && !o.gpu.any() && manyRanks(opt.Survey) && !(window.Timed() && opt.Survey.Stream) {
		merge := report.NewMerge(build)
		s, err := a.loadEach(ctx, paths, opt, window, merge)
		if err != nil {
			return err
		}
		return o.write(a, w, s, merge.Report(s))
	}
	s, err := a.load(ctx, paths, opt)
	if err != nil {
		return err
	}
	if keep {
		keepSources(a, paths[0], s)
	}
	if err := analyse.Cut(s, window); err != nil {
		return usage("%v", err)
	}
	if o.fixes.measure {
		if build.Measured, err = o.fixes.run(ctx, s); err != nil {
			a.warn("no fix is measured: %v", err)
		} else if keep {
			keepMeasured(a, paths[0], build.Measured)
		}
	}
	return o.write(a, w, s, report.Build(s, build))
}

// keepSources saves the program texts and lets this report use the same that later ones will.
func keepSources(a *app, dir string, s *model.Session) {
	if _, err := record.SaveSources(dir, ingest.SourcePaths(s)); err != nil {
		a.warn("the program's source is not kept with the session: %v", cause(err))
	}
	if err := ingest.LoadSources(dir, s); err != nil {
		a.warn("the program's source is not in the report: %v", cause(err))
		return
	}
	const rounds = 4 // of modules that import others
	for range rounds {
		saved, err := record.SaveSources(dir, ingest.ImportedSources(s))
		if err != nil || saved == 0 || ingest.LoadSources(dir, s) != nil {
			return // texts that no finding stands in
		}
	}
}

// write sends the report where the flags say.
func (o *reportOptions) write(a *app, w io.Writer, s *model.Session, r *report.Report) error {
	if o.json != "" {
		err := o.toFile(a, o.json, func(w io.Writer) error { return report.WriteJSON(w, r) })
		if err != nil || o.json == "-" && o.output == "" {
			return err
		}
	}
	if o.output != "" {
		return o.toFile(a, o.output, func(w io.Writer) error { return o.writeText(a, w, s, r) })
	}
	return o.writeText(a, w, s, r)
}

// writeText writes the report in the chosen style, or the one file that was asked for.
func (o *reportOptions) writeText(a *app, w io.Writer, s *model.Session, r *report.Report) error {
	text := o.text
	text.Width, text.Color, text.Verbose = width(w), a.useColor(w), a.verbose
	safe := view.Safe(w, text.Color && o.style == "report" && o.samples.source == "")
	return errors.Join(o.writeStyle(safe, s, r, text), safe.Close())
}

// writeStyle writes to what keeps names of the program from steering a terminal.
func (o *reportOptions) writeStyle(w io.Writer, s *model.Session, r *report.Report, text view.TextOptions) error {
	if o.samples.source != "" {
		return o.writeSource(w, s, text)
	}
	if o.gpu.any() {
		return o.gpu.write(w, s, text)
	}
	switch o.style {
	case "torch":
		return o.writeTorch(w, s)
	case "lightning":
		return o.writeLightning(w, s)
	case "classic":
		return o.writeClassic(w, s, r)
	}
	if err := view.WriteText(w, r, text); err != nil {
		return usage("%v", err)
	}
	return o.writeSamples(w, s, text)
}

// toFile writes a whole file or nothing; "-" is standard output.
func (o *reportOptions) toFile(a *app, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(a.stdout)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // a pipe or /dev/null
		if err != nil {
			return unusable(fmt.Errorf("write report: %w", err))
		}
		defer f.Close()
		if _, err = f.Write(text.Bytes()); err != nil {
			return unusable(fmt.Errorf("write report: %w", err))
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return unusable(fmt.Errorf("write report: %w", err))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		return unusable(fmt.Errorf("write report: %w", err))
	}
	return nil
}
