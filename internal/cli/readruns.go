package cli

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/compare"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// comparedSections are the tables that comparisons read.
var comparedSections = []string{"operators", "kernels", "communication", "ranks", "memory", "calls", "modules", "gpu", report.SectionCounts}

// readSide reads the runs of one side, one after the other: no more than one is in memory besides the reports.
func (a *app) readSide(ctx context.Context, paths []string) (compare.Side, error) {
	side := compare.Side{Path: strings.Join(paths, " ")}
	for _, path := range paths {
		runs, err := runsOf(path)
		if err != nil {
			return side, err
		}
		for _, run := range runs {
			r, err := a.readRun(ctx, run)
			if err != nil {
				return side, err
			}
			side.Runs = append(side.Runs, r)
		}
	}
	return side, nil
}

// runPaths are what to read of one run.
type runPaths struct {
	paths   []string
	survey  *ingest.Survey // of the same paths; nil: not made yet
	job     string
	created int64
	fresh   bool // a session that was just recorded: the program's texts are kept with it as it is read
}

// runsOf are the runs that a path holds: the sessions of a directory by their jobs, the packed sessions of a directory one by one;
// everything else is one run.
func runsOf(path string) ([]runPaths, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []runPaths{{paths: []string{path}}}, nil // reading it says what is wrong
	}
	if packed := packedIn(path); len(packed) > 0 {
		return packed, nil
	}
	v, err := survey([]string{path})
	if err != nil {
		return nil, err
	}
	one := []runPaths{{paths: []string{path}, survey: v}}
	var runs []runPaths
	for _, dir := range v.Sessions {
		m, err := record.ReadManifest(dir)
		if err != nil {
			return one, nil
		}
		at := slices.IndexFunc(runs, func(r runPaths) bool { return r.job == m.Job })
		if at < 0 {
			at = len(runs)
			runs = append(runs, runPaths{job: m.Job, created: m.CreatedUnixNS})
		}
		runs[at].paths = append(runs[at].paths, dir)
	}
	if len(runs) < 2 {
		return one, nil
	}
	slices.SortFunc(runs, func(x, y runPaths) int { return cmp.Compare(x.created, y.created) })
	return runs, nil
}

// packedIn are the packed sessions of a directory. Only names that say "tar" are looked into: a job's folder can hold thousands of traces.
func packedIn(dir string) []runPaths {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []runPaths
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type().IsRegular() && strings.Contains(e.Name(), ".tar") && record.IsPacked(path) {
			out = append(out, runPaths{paths: []string{path}})
		}
	}
	return out
}

// readRun reads one run and reduces it to its report and the program's texts.
func (a *app) readRun(ctx context.Context, run runPaths) (compare.Run, error) {
	shown := run.paths[0]
	paths, cleanup, err := a.unpackAll(ctx, run.paths)
	defer cleanup()
	if err != nil {
		return compare.Run{}, err
	}
	defer debug.FreeOSMemory()
	opt := ingest.Options{Survey: run.survey}
	if opt.Survey == nil {
		if opt.Survey, err = survey(paths); err != nil {
			return compare.Run{}, err
		}
	}
	build := report.Options{Version: Version(), Path: shown, Sections: comparedSections, GroupByInputShape: true,
		Measured: savedMeasured(a, paths[0])}
	if manyRanks(opt.Survey) {
		merge := report.NewMerge(build)
		s, err := a.loadEach(ctx, paths, opt, analyse.Window{}, merge)
		if err != nil {
			return compare.Run{}, err
		}
		return compare.Run{Report: merge.Report(s), Sources: texts(s)}, nil
	}
	s, err := a.load(ctx, paths, opt)
	if err != nil {
		return compare.Run{}, err
	}
	if run.fresh {
		keepSources(a, paths[0], s)
	}
	return compare.Run{Report: report.Build(s, build), Sources: texts(s), Ablated: ablated(s)}, nil
}

// ablated is how often the agent took a cause away.
func ablated(s *model.Session) (n float64) {
	for i := range s.Processes {
		n += s.Processes[i].Counters["ablated"]
	}
	return n
}

// texts are the program texts that a session keeps.
func texts(s *model.Session) map[string][]string {
	out := make(map[string][]string, len(s.Sources))
	for path, source := range s.Sources {
		out[path] = source.Lines
	}
	return out
}
