package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// Options say what is read.
type Options struct {
	Rank     []int                   // only traces of these ranks; all when empty
	Progress func(done, total int64) // bytes as stored; called from any goroutine, one call at a time
	Skip     Skip                    // columns that nobody asked for
	Stdin    io.Reader               // what "-" means
	Survey   *Survey                 // of the same paths, where one was made: they are not searched again
}

// UnusableError says that an input cannot be used at all, and what it is.
type UnusableError struct {
	Path   string
	Reason string
	err    error
}

func (e *UnusableError) Error() string { return fmt.Sprintf("reading %s: %s", e.Path, e.Reason) }
func (e *UnusableError) Unwrap() error { return e.err }

// Open reads files, directories of them, archives (.tar, .tar.gz, .zip), session directories, and "-", into one session.
// Every file that is recognised becomes an Input, also one that holds no profile: Input.Format names it. Files within a
// directory or archive that are nothing known are passed over. An input named by the user that cannot be used at all is
// an error (*UnusableError) if nothing else could be used either; else it becomes an Input of format "unusable".
func Open(ctx context.Context, paths []string, opt Options) (*model.Session, error) {
	s := &model.Session{Strings: &model.Strings{}}
	err := (&opening{ctx: ctx, opt: opt, s: s}).run(paths)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Visit takes one trace of many in a session of its own, which can be dropped when it returns; number counts the sources in
// order. It is called from several goroutines at once. The function that it returns, if any, is called later, one at a time
// and in the order of the sources, so that what is summed up does not depend on which was read first.
type Visit func(number int, s *model.Session, t *model.Trace) (fold func(), err error)

// Each is Open for more ranks than memory: every trace is visited and dropped. The session that Each returns has everything
// but traces.
func Each(ctx context.Context, paths []string, opt Options, visit Visit) (*model.Session, error) {
	s := &model.Session{Strings: &model.Strings{}}
	if err := (&opening{ctx: ctx, opt: opt, s: s, visit: visit}).run(paths); err != nil {
		return nil, err
	}
	return s, nil
}

// Survey is what paths would have Open read.
type Survey struct {
	Files    int      // in directories and zip archives, or named; a tar archive is one
	Bytes    int64    // as stored
	Sessions []string // the session directories among them
	Stream   bool     // something among them can be read once only
	sources  []source
}

// SurveyOf looks at paths without reading more than each file's first bytes. Standard input and pipes count as nothing: they
// can be read once only. The error is that of Open.
func SurveyOf(paths []string) (*Survey, error) {
	sources, err := expand(paths)
	if err != nil {
		return nil, err
	}
	v := &Survey{sources: sources}
	for _, src := range sources {
		if src.input {
			v.Stream = true
			continue
		}
		v.Files++
		v.Bytes += src.size
		if src.directory != nil {
			v.Sessions = append(v.Sessions, src.path)
		}
	}
	return v, nil
}

// opening is one Open at work.
type opening struct {
	ctx   context.Context
	opt   Options
	s     *model.Session
	visit Visit
	// readers is how many goroutines parse one text: all cores for one, one for many.
	readers int
	done    atomic.Int64
	total   int64
	report  sync.Mutex
	ranks   map[int]string // by rank the file that stated it
	failed  []error
	rocprof map[string]*rocGroup // tables that wait for others of their run
}

func (o *opening) run(paths []string) error {
	survey := o.opt.Survey
	if survey == nil {
		var err error
		if survey, err = SurveyOf(paths); err != nil {
			return err
		}
	}
	sources := slices.Clone(survey.sources)
	for i := range sources {
		sources[i].number = i
		if sources[i].open == nil {
			sources[i].open = o.standardInput
		}
		o.total += sources[i].size
	}
	if err := o.all(sources); err != nil {
		return err
	}
	o.storeRocprof()
	o.missingRanks()
	if len(o.failed) > 0 && !o.anything() {
		return errors.Join(o.failed...)
	}
	if len(o.s.Inputs) == 0 && len(o.s.Processes) == 0 && len(o.s.Traces) == 0 {
		return &UnusableError{Path: joined(paths), Reason: "no trace, profile or session found"}
	}
	return nil
}

func (o *opening) anything() bool {
	return slices.ContainsFunc(o.s.Inputs, func(in model.Input) bool { return in.Format != FormatUnusable }) || len(o.s.Processes) > 0
}

// result is one source, read, not yet part of the session.
type result struct {
	add func() error
	err error
}

// all reads sources on all cores and adds them in order, so that the session does not depend on who was first.
func (o *opening) all(sources []source) error {
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	workers := min(runtime.GOMAXPROCS(0), max(len(sources), 1))
	o.readers = runtime.GOMAXPROCS(0) / workers
	results := make(chan chan result, workers) // in order; its length bounds what waits in memory
	go func() {
		defer close(results)
		slots := make(chan struct{}, workers)
		for _, src := range sources {
			out := make(chan result, 1)
			select {
			case results <- out:
			case <-ctx.Done():
				return
			}
			slots <- struct{}{}
			go func() {
				out <- o.read(ctx, src)
				<-slots
			}()
		}
	}()
	var first error
	for out := range results {
		r := <-out
		if r.err == nil && r.add != nil && first == nil {
			r.err = r.add()
		}
		if r.err != nil && first == nil && !o.tolerate(r.err) {
			first = r.err
			cancel()
		}
	}
	if first == nil {
		first = o.ctx.Err()
	}
	return first
}

// tolerate keeps an unusable input as one, so that the others are still reported.
func (o *opening) tolerate(err error) bool {
	var unusable *UnusableError
	if !errors.As(err, &unusable) {
		return false
	}
	o.failed = append(o.failed, err)
	o.s.Inputs = append(o.s.Inputs, model.Input{Path: unusable.Path, Format: FormatUnusable, Rank: model.NoRank,
		Diagnostics: []model.Diagnostic{{Kind: "unusable", Count: 1, FirstOffset: -1, Text: unusable.Reason}}})
	return true
}

// read reads one source; adding it to the session is left to the caller's goroutine.
func (o *opening) read(ctx context.Context, src source) result {
	if src.directory != nil {
		return result{add: func() error { return src.directory(ctx, src.path, o.opt, o.s) }}
	}
	in, err := src.open()
	if err != nil {
		return result{err: &UnusableError{Path: src.path, Reason: err.Error(), err: err}}
	}
	defer in.Close()
	r, packed, err := unpackHere(&cancelled{ctx, &progressReader{o: o, r: in}})
	if err != nil {
		return result{err: &UnusableError{Path: src.path, Reason: "cannot be unpacked: " + err.Error(), err: err}}
	}
	src.packed = packed
	out, err := o.readText(src, r)
	if err != nil && src.found && errors.As(err, new(*UnusableError)) {
		return result{} // a stray file of a directory
	}
	return result{add: out, err: err}
}

// readText recognises a text and reads it.
func (o *opening) readText(src source, r io.Reader) (add func() error, err error) {
	head, r, err := peek(r, headSize)
	if err != nil && len(head) == 0 {
		return nil, &UnusableError{Path: src.path, Reason: "cannot be read: " + err.Error(), err: err}
	}
	if len(head) == 0 {
		return nil, &UnusableError{Path: src.path, Reason: "the file is empty"}
	}
	format := recognise(head)
	if format == nil {
		if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
			return nil, &UnusableError{
				Path: src.path, Reason: "a zip archive, which can be read from a file only, not from a pipe or another archive",
			}
		}
		if !looksLikeJSON(head) {
			return nil, &UnusableError{Path: src.path, Reason: "neither a trace nor any other format that is known"}
		}
		return o.readKineto(src, r)
	}
	if src.packed {
		ahead := readAhead(r)
		defer ahead.Close()
		r = ahead
	}
	return format.read(o, src, r)
}

// readKineto reads a trace into columns.
func (o *opening) readKineto(src source, r io.Reader) (func() error, error) {
	if src.packed && o.readers < 2 { // else cutting it into pieces is a goroutine of its own
		ahead := readAhead(r)
		defer ahead.Close()
		r = ahead
	}
	b := newBuilder(kineto.NewScanner(r), TraceOptions{Skip: o.opt.Skip})
	b.readers, b.pieceSize = o.readers, pieceSize
	if err := b.read(src.path); err != nil {
		return nil, err
	}
	if rank := b.header.rankOf(src.path); len(o.opt.Rank) > 0 && rank != model.NoRank && !slices.Contains(o.opt.Rank, rank) {
		return nil, nil
	}
	if o.visit == nil {
		return func() error { o.checkRank(b.store(o.s, src.path).Input, src); return nil }, nil
	}
	own := &model.Session{Strings: &model.Strings{}}
	t := b.store(own, src.path)
	fold, err := o.visit(src.number, own, t)
	if err != nil {
		return nil, err
	}
	in, head := own.Inputs[0], b.header
	return func() error {
		head.environment(&o.s.Environment)
		o.s.Inputs = append(o.s.Inputs, in)
		o.checkRank(len(o.s.Inputs)-1, src)
		if fold != nil {
			fold()
		}
		return nil
	}, nil
}

// checkRank notes that two files state the same rank.
func (o *opening) checkRank(input int, src source) {
	in := &o.s.Inputs[input]
	in.Bytes = src.size
	if in.Rank == model.NoRank {
		return
	}
	if o.ranks == nil {
		o.ranks = map[int]string{}
	}
	if other, ok := o.ranks[in.Rank]; ok {
		in.Diagnostics = append(in.Diagnostics, model.Diagnostic{Kind: "duplicate-rank", Count: 1, FirstOffset: -1,
			Text: fmt.Sprintf("states rank %d, as %s does", in.Rank, other)})
		return
	}
	o.ranks[in.Rank] = in.Path
}

// progressReader reports bytes as they are read.
type progressReader struct {
	o *opening
	r io.Reader
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	done := p.o.done.Add(int64(n))
	if p.o.opt.Progress != nil {
		p.o.report.Lock()
		p.o.opt.Progress(min(done, max(p.o.total, done)), max(p.o.total, done))
		p.o.report.Unlock()
	}
	return n, err
}

func joined(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprint(paths)
}
