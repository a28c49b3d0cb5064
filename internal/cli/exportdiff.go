package cli

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"context"
	"fmt"
	"io"
	"strings"
)

// exportDiff writes what differs between two sessions.
func (a *app) exportDiff(ctx context.Context, o *exportOptions, format export.Format, args []string) error {
	if format.WriteDiff == nil {
		return usage("export --diff: %s has no form for differences; %s have", format.Name, diffFormats())
	}
	if len(args) != 2 {
		return usage("export --diff: needs two sessions, BEFORE and AFTER, and has %d", len(args))
	}
	a.confine(ctx, needs{inputs: args, outputs: []string{o.output}, scratch: format.Compares})
	opt := export.Options{Rank: o.rank, Version: Version(), Source: args[0]}
	if format.Compares {
		opt.Source = args[1] // which is what is shown
		var err error
		if opt.Diff, err = a.compared(ctx, args[:1], args[1:]); err != nil {
			return fmt.Errorf("export --diff: %w", err)
		}
	}
	var sides [2]*model.Session
	for i := range sides {
		load := a.loadWhole
		if format.Compares {
			load = a.loadFirst
		}
		s, cleanup, err := load(ctx, args[i])
		defer cleanup()
		if err != nil {
			return err
		}
		chooseSamples(s, o.samples, format.Name)
		sides[i] = s
	}
	difference := export.Format{Name: format.Name, Suffix: format.Suffix,
		Write: func(ctx context.Context, _ *model.Session, w io.Writer, opt export.Options) error {
			return format.WriteDiff(ctx, sides[0], sides[1], w, opt)
		}}
	if err := writeExport(ctx, sides[1], difference, o.output, opt, a.stdout); err != nil {
		return fmt.Errorf("--diff: %w", err)
	}
	return nil
}

// diffFormats names the forms that can say what differs.
func diffFormats() string {
	var names []string
	for _, f := range export.Formats() {
		if f.WriteDiff != nil {
			names = append(names, f.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// compared is what diff says of two sides.
func (a *app) compared(ctx context.Context, before, after []string) (*report.Diff, error) {
	var sides [2]compare.Side
	for i, paths := range [][]string{before, after} {
		var err error
		if sides[i], err = a.readSide(ctx, paths); err != nil {
			return nil, err
		}
	}
	d, err := compare.Diff(sides[0], sides[1], compare.Options{Version: Version()})
	if err != nil {
		return nil, unusable(err)
	}
	return d, nil
}

// loadFirst reads the first run that a path holds: the one that a page draws of a side.
func (a *app) loadFirst(ctx context.Context, path string) (s *model.Session, cleanup func(), err error) {
	runs, err := runsOf(path)
	if err != nil {
		return nil, func() {}, err
	}
	return a.loadPaths(ctx, runs[0].paths)
}

// loadWhole reads all that a path holds as one session.
func (a *app) loadWhole(ctx context.Context, path string) (s *model.Session, cleanup func(), err error) {
	return a.loadPaths(ctx, []string{path})
}

// loadPaths reads paths; cleanup removes what was unpacked for it.
func (a *app) loadPaths(ctx context.Context, paths []string) (s *model.Session, cleanup func(), err error) {
	paths, cleanup, err = a.unpackAll(ctx, paths)
	if err != nil {
		return nil, cleanup, err
	}
	s, err = a.load(ctx, paths, ingest.Options{})
	return s, cleanup, err
}
