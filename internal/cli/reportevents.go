package cli

import (
	"context"

	"bottleneck/internal/analyse"
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// printEvents writes the events behind the operator table, torch.profiler's events(), to --json: one object a line, each
// as soon as it is made.
func (o *reportOptions) printEvents(ctx context.Context, a *app, paths []string) error {
	if o.json == "" {
		return usage("report --events writes JSON lines; name the file with --json FILE (- = standard output)")
	}
	window, err := o.window.window()
	if err != nil {
		return err
	}
	format, err := export.Find("events")
	if err != nil {
		return err
	}
	paths, cleanup, err := a.unpackAll(ctx, paths)
	defer cleanup()
	if err != nil {
		return err
	}
	s, err := a.load(ctx, paths, ingest.Options{Rank: o.build.Ranks})
	if err != nil {
		return err
	}
	if err := analyse.Cut(s, window); err != nil {
		return usage("%v", err)
	}
	return writeExport(ctx, s, format, o.json, export.Options{Rank: model.NoRank, RowLimit: -1}, a.stdout)
}
