package cli

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// How far the heap may grow beyond what is in use while traces are read, and while they are analysed: then the columns
// are nearly all there is, which costs the collector nothing, and what an analysis leaves behind is as much as they are.
// A small heap may grow by gcRoom all the same: of a short run the collector took a third of the time that its report takes.
const (
	gcPercent        = 40
	gcPercentAnalyse = 15
	gcRoom           = 24 << 20 // bytes
)

// gcBallast is never written to, so that it takes no memory. It counts as in use, so that gcPercent of it is gcRoom.
var gcBallast []byte

// collectForReading sets the collector for what grows.
func collectForReading() {
	if gcBallast == nil {
		gcBallast = make([]byte, gcRoom*100/gcPercent)
	}
	debug.SetGCPercent(gcPercent)
}

// collectForAnalysing sets it for what stays as it is.
func collectForAnalysing() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(max(gcPercentAnalyse, int(100*gcRoom/max(m.HeapAlloc, 1))))
}

// load reads sessions and traces, with a progress bar where that takes long and standard error is a terminal.
func (a *app) load(ctx context.Context, paths []string, opt ingest.Options) (*model.Session, error) {
	if opt.Survey == nil {
		var err error
		if opt.Survey, err = survey(paths); err != nil {
			return nil, err
		}
	}
	if err := oneRun(opt.Survey); err != nil {
		return nil, err
	}
	s, err := a.reading(opt, func(opt ingest.Options) (*model.Session, error) { return ingest.Open(ctx, paths, opt) })
	if err == nil && len(s.Traces) > 0 {
		collectForAnalysing()
	}
	return s, err
}

// survey lists what is to be read, once for all that decides by it: on a shared file system that is a job's folder of
// thousands of files.
func survey(paths []string) (*ingest.Survey, error) {
	v, err := ingest.SurveyOf(paths)
	if err != nil {
		return nil, unusable(err)
	}
	return v, nil
}

// maxRuns is how many runs a message lists.
const maxRuns = 8

// oneRun refuses the sessions of several runs, as a directory such as bottleneck-out holds them: in one report they would be one
// program with the time of another. Sessions of one job, one from each node, are one run.
func oneRun(v *ingest.Survey) error {
	if len(v.Sessions) < 2 {
		return nil
	}
	type run struct {
		dir string
		record.Manifest
	}
	var runs []run
	jobs := map[string]bool{}
	for _, dir := range v.Sessions {
		m, err := record.ReadManifest(dir)
		if err != nil {
			continue
		}
		runs = append(runs, run{dir, m})
		jobs[m.Job] = true
	}
	if len(jobs) < 2 {
		return nil
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(b.CreatedUnixNS, a.CreatedUnixNS) })
	var b strings.Builder
	fmt.Fprintf(&b, "there are %d runs; give one of them, the newest first:", len(runs))
	for i, r := range runs {
		if i == maxRuns {
			fmt.Fprintf(&b, "\n  … and %d older ones", len(runs)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", r.dir, time.Unix(0, r.CreatedUnixNS).Format("2006-01-02 15:04:05"))
	}
	return usage("%s", b.String())
}

// loadEach reduces every trace to what its report needs of a window of it, and drops it. Times count from the start of the
// earliest trace, so that for them all are read twice.
func (a *app) loadEach(ctx context.Context, paths []string, opt ingest.Options, window analyse.Window,
	merge *report.Merge) (*model.Session, error) {
	each := func(visit ingest.Visit) (*model.Session, error) {
		return a.reading(opt, func(opt ingest.Options) (*model.Session, error) { return ingest.Each(ctx, paths, opt, visit) })
	}
	if window.Whole() {
		return each(func(number int, s *model.Session, t *model.Trace) (func(), error) {
			return merge.Add(number, s, t), nil
		})
	}
	cut := analyse.NewCutting(window)
	if window.Timed() {
		if _, err := each(func(_ int, _ *model.Session, t *model.Trace) (func(), error) { return func() { cut.See(t) }, nil }); err != nil {
			return nil, err
		}
	}
	s, err := each(func(number int, s *model.Session, t *model.Trace) (func(), error) {
		book := cut.Trace(t)
		add := merge.Add(number, s, t)
		return func() { book(); add() }, nil
	})
	if err != nil {
		return nil, err
	}
	if err := cut.Rest(s); err != nil {
		return nil, usage("%v", err)
	}
	return s, nil
}

// Jobs whose traces are not held in memory together: one has more ranks than anybody compares one by one, or its files
// unpack to gigabytes.
const (
	manyRankFiles = 16
	manyRankBytes = 64 << 20
)

func manyRanks(v *ingest.Survey) bool {
	return len(v.Sessions) == 0 && (v.Files > manyRankFiles || v.Files > 1 && v.Bytes > manyRankBytes)
}

// reading shows progress and tells an interrupted reading from inputs that cannot be used.
func (a *app) reading(opt ingest.Options, read func(ingest.Options) (*model.Session, error)) (*model.Session, error) {
	// The columns of a trace stay until the end, so that a collector that lets the heap double would cost as much again.
	collectForReading()
	bar := newProgress(a.stderr)
	opt.Progress, opt.Stdin = bar.update, a.stdin
	s, err := read(opt)
	bar.done()
	switch {
	case errors.Is(err, context.Canceled):
		return nil, &exitError{130, err}
	case err != nil:
		return nil, unusable(err)
	}
	return s, nil
}

// progress is a bar on a terminal that appears only when work takes longer than half a second.
type progress struct {
	mu    sync.Mutex
	w     io.Writer // nil: not a terminal
	start time.Time
	bar   *progressbar.ProgressBar
}

// quietFor is how long work may take before it shows.
const quietFor = 500 * time.Millisecond

func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		w = nil
	}
	return &progress{w: w, start: time.Now()}
}

// update is told the bytes done of all.
func (p *progress) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil || time.Since(p.start) < quietFor {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription("reading"), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30))
	}
	p.bar.ChangeMax64(total)
	_ = p.bar.Set64(done) // a bar that cannot be drawn is no reason to stop
}

// done takes the bar off the screen.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
		p.w = nil
	}
}
