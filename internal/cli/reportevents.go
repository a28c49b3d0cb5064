package cli

import (
	"context"
	"errors"
	"io"

	"bottleneck/internal/analyse"
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// printEvents writes the events behind the operator table, torch.profiler's events(), to --json: one object a line, each
// as soon as it is made, so that a file of any length passes through.
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
	paths, cleanup, err := unpackAll(ctx, paths)
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
	return writeEvents(ctx, s, format, o.json, a.stdout)
}

func writeEvents(ctx context.Context, s *model.Session, format export.Format, path string, stdout io.Writer) error {
	opt := export.Options{Rank: model.NoRank, RowLimit: -1}
	var err error
	if path == "-" {
		err = format.Write(ctx, s, stdout, opt)
	} else {
		opt.Path = path
		err = export.WriteFile(ctx, s, format, path, opt)
	}
	var nothing *export.UnavailableError
	if errors.As(err, &nothing) {
		return unusable(err)
	}
	return err
}
