package cli

import (
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"context"
	"fmt"
	"io"
)

// exportDiff writes what differs between the stacks of two sessions.
func (a *app) exportDiff(ctx context.Context, o *exportOptions, format export.Format, args []string) error {
	if format.WriteDiff == nil {
		return usage("export --diff: %s has no form for differences; folded, speedscope and pprof have", format.Name)
	}
	if len(args) != 2 {
		return usage("export --diff: needs two sessions, BEFORE and AFTER, and has %d", len(args))
	}
	a.confine(ctx, needs{inputs: args, outputs: []string{o.output}})
	var sides [2]*model.Session
	for i := range sides {
		paths, cleanup, err := a.unpackAll(ctx, args[i:i+1])
		defer cleanup()
		if err != nil {
			return err
		}
		if sides[i], err = a.load(ctx, paths, ingest.Options{}); err != nil {
			return err
		}
		chooseSamples(sides[i], o.samples, format.Name)
	}
	opt := export.Options{Rank: o.rank, Version: Version(), Source: args[0]}
	difference := export.Format{Name: format.Name, Suffix: format.Suffix,
		Write: func(ctx context.Context, _ *model.Session, w io.Writer, opt export.Options) error {
			return format.WriteDiff(ctx, sides[0], sides[1], w, opt)
		}}
	if err := writeExport(ctx, sides[1], difference, o.output, opt, a.stdout); err != nil {
		return fmt.Errorf("--diff: %w", err)
	}
	return nil
}
