package cli

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"bottleneck/internal/web"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// source makes what view serves: a list of runs, a page that follows its session, or a page.
func (a *app) source(ctx context.Context, o *viewOptions, args, paths []string) (web.Source, error) {
	if len(args) == 1 && o.before == "" {
		runs, err := runsOf(args[0])
		if err != nil {
			return nil, err
		}
		if len(runs) > 1 {
			return a.listRuns(ctx, args[0], runs), nil
		}
	}
	p, growing, err := a.loadPage(ctx, paths, args[0])
	if err != nil {
		return nil, err
	}
	if o.before != "" {
		if err := a.compareWith(ctx, p, o.before, args); err != nil {
			return nil, err
		}
	}
	if !growing || o.before != "" {
		return p.Ready(), nil
	}
	live := page.NewLive(p.Ready())
	go a.follow(ctx, live, paths, args[0])
	return live, nil
}

// listRuns lists the runs of a folder, the newest first, and reads their verdicts one after the other.
func (a *app) listRuns(ctx context.Context, folder string, runs []runPaths) *page.Runs {
	runs = slices.Clone(runs)
	slices.Reverse(runs)
	rows := make([]page.Run, len(runs))
	for i, r := range runs {
		rows[i] = page.Run{Name: filepath.Base(r.paths[0]), Begun: r.created}
	}
	list := page.NewRuns(folder, Version(), slices.Clone(rows), func(i int) (*page.Page, error) {
		paths, cleanup, err := a.unpackAll(ctx, runs[i].paths)
		defer cleanup()
		if err != nil {
			return nil, err
		}
		p, _, err := a.loadPage(ctx, paths, runs[i].paths[0])
		return p, err
	})
	go func() {
		for i := range runs {
			if ctx.Err() != nil {
				return
			}
			list.Set(i, a.verdictOf(ctx, runs[i], rows[i]))
		}
	}()
	return list
}

// verdictOf reads one run for the list.
func (a *app) verdictOf(ctx context.Context, run runPaths, row page.Run) (out page.Run) {
	out = row
	out.Read = true
	defer func() {
		if broken := recover(); broken != nil {
			out.Problem = fmt.Sprintf("internal error: %v", broken)
		}
	}()
	read, err := a.readRun(ctx, run)
	if err != nil {
		out.Problem = firstLine(err.Error())
		return out
	}
	r := read.Report
	out.Title, out.Verdict, out.Bound, out.Level = view.Title(r), r.Verdict.Sentence, r.Verdict.Bound, r.Verdict.Confidence.Level
	out.StepMs = medianStep(r)
	return out
}

func medianStep(r *report.Report) *float64 {
	if len(r.Steps) == 0 {
		return nil
	}
	for _, q := range []*report.Quantiles{r.Steps[0].Baseline, r.Steps[0].Traced} {
		if q != nil {
			return &q.MedianMs
		}
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// How a session that grows is followed: looked at each followEvery, read again where it has changed, and so that reading takes no more
// than a third of the time.
const followEvery = 2 * time.Second

// follow reads a session again as it grows, until the program has ended.
func (a *app) follow(ctx context.Context, live *page.Live, paths []string, shown string) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	seen, next := sizeOf(paths), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		size := sizeOf(paths)
		if size == seen || time.Now().Before(next) {
			continue
		}
		begin := time.Now()
		p, growing, err := a.again(ctx, paths, shown)
		next = time.Now().Add(2 * time.Since(begin))
		if ctx.Err() != nil {
			return
		}
		if seen = size; err != nil {
			live.Fails("the session cannot be read any more (" + firstLine(err.Error()) + "): this is what was read before")
			continue
		}
		if live.Show(p.Ready()); !growing {
			return
		}
	}
}

// again is loadPage for a session that changes meanwhile: what breaks is said, and does not end the server.
func (a *app) again(ctx context.Context, paths []string, shown string) (p *page.Page, growing bool, err error) {
	defer debug.FreeOSMemory()
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("internal error: %v", broken)
		}
	}()
	if len(paths) == 1 && !isThere(paths[0]) {
		return nil, false, errors.New("it is gone")
	}
	return a.loadPage(ctx, paths, shown)
}

// sessionSize tells whether anything in a session has changed.
type sessionSize struct {
	files, bytes int64
	newest       time.Time
}

func sizeOf(paths []string) (out sessionSize) {
	for _, path := range paths {
		_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // what vanishes meanwhile
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				out.files++
				out.bytes += info.Size()
				if info.ModTime().After(out.newest) {
					out.newest = info.ModTime()
				}
			}
			return nil
		})
	}
	return out
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
