package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// maxFolders bounds the processes that are read of one session; a job of 1,000 ranks with 16 workers each stays below.
const maxFolders = 20000

// growingFor is how long after its last change a session of another host, whose processes we cannot ask for, is taken to
// be still growing.
const growingFor = 15 * time.Second

// openSession adds a session directory (docs/session.md) to s. It is meant for sessions in any state: still growing, or
// left behind by a launcher or a program that was killed; what is damaged or missing becomes a diagnostic of its file.
// The error says that dir could not be listed, or that ctx ended.
func openSession(ctx context.Context, dir string, opt Options, s *model.Session) error {
	launchers, folders, err := record.Folders(dir)
	if err != nil {
		return err
	}
	r := &sessionReader{ctx: ctx, dir: dir, opt: opt, s: s, first: len(s.Processes)}
	r.manifest()
	r.launchers(launchers)
	if len(folders) > maxFolders {
		r.diagnose(dir, "too-many-processes", int64(len(folders)-maxFolders), "process folders were left out")
		folders = folders[:maxFolders]
	}
	for _, folder := range bySpeaker(folders) {
		r.process(folder)
	}
	launchersOfRanks(r.added())
	if err := r.traces(); err != nil {
		return err
	}
	if err := r.others(launchers); err != nil {
		return err
	}
	r.devices()
	r.samples(launchers)
	r.usage(launchers)
	cleanPaths(s, r.added())
	r.environment()
	r.run()
	r.clocks()
	for _, p := range r.added() {
		apartForward(p, s.Strings)
	}
	r.sources()
	return ctx.Err()
}

// sessionReader carries what the parts of a session directory share while they are read.
type sessionReader struct {
	ctx       context.Context
	dir       string
	opt       Options
	s         *model.Session
	job       record.Manifest
	starts    []*record.Launcher // readable launcher.json, rank 0 first
	folders   []string           // of the processes in s.Processes that this reader added, by index − first
	first     int                // index of the first of them
	lastWrite time.Time
}

// open opens a file of the session, which is given by its full path.
func (r *sessionReader) open(path string) (*os.File, error) {
	return record.Open(r.dir, r.inside(path))
}

// stat describes a file that open would open.
func (r *sessionReader) stat(path string) (fs.FileInfo, error) {
	return record.Stat(r.dir, r.inside(path))
}

// inside is a full path relative to the session directory.
func (r *sessionReader) inside(path string) string {
	name, err := filepath.Rel(r.dir, path)
	if err != nil {
		return path // outside, which is not opened
	}
	return name
}

// input adds a file to the session's inputs, named relative to the session directory.
func (r *sessionReader) input(path, format string) *model.Input {
	name, err := filepath.Rel(r.dir, path)
	if err != nil {
		name = path
	}
	in := model.Input{Path: filepath.ToSlash(name), Format: format, Counts: map[string]int64{}, Rank: model.NoRank}
	if info, err := r.stat(path); err == nil {
		in.Bytes = info.Size()
		if info.ModTime().After(r.lastWrite) {
			r.lastWrite = info.ModTime()
		}
	}
	r.s.Inputs = append(r.s.Inputs, in)
	return &r.s.Inputs[len(r.s.Inputs)-1]
}

// relative names the inputs from index first on relative to the session directory, so that a report does not depend on
// how the directory was named, and notes when they were written.
func (r *sessionReader) relative(first int) {
	for i := first; i < len(r.s.Inputs); i++ {
		in := &r.s.Inputs[i]
		if info, err := r.stat(in.Path); err == nil && info.ModTime().After(r.lastWrite) {
			r.lastWrite = info.ModTime()
		}
		if name, err := filepath.Rel(r.dir, in.Path); err == nil && filepath.IsLocal(name) {
			in.Path = filepath.ToSlash(name)
		}
	}
}

// diagnose adds an input that exists only to carry a diagnostic.
func (r *sessionReader) diagnose(path, kind string, count int64, text string) {
	in := r.input(path, "session")
	in.Diagnostics = append(in.Diagnostics, model.Diagnostic{Kind: kind, Count: count, FirstOffset: -1, Text: text})
}

func (r *sessionReader) manifest() {
	m, err := record.ReadManifest(r.dir)
	if err != nil {
		r.diagnose(filepath.Join(r.dir, record.ManifestName), "manifest", 1, plain(err))
		return
	}
	r.job = m
	if m.Schema != record.ManifestSchema {
		r.diagnose(filepath.Join(r.dir, record.ManifestName), "version", 1,
			fmt.Sprintf("written as %q; this version reads %q and may miss parts of it", m.Schema, record.ManifestSchema))
	}
}

func (r *sessionReader) launchers(folders []string) {
	for _, folder := range folders {
		l, err := record.ReadLauncher(folder)
		if err != nil {
			r.diagnose(filepath.Join(folder, record.LauncherName), "launcher", 1, plain(err))
			continue
		}
		r.starts = append(r.starts, l)
	}
	slices.SortStableFunc(r.starts, func(a, b *record.Launcher) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return int((a.StartUnixNS - b.StartUnixNS) / 1e6)
	})
}

// bySpeaker orders process folders so that ranks, the lowest first, and the program itself come before workers and helpers: what they say
// of the software holds for the session. A program beside ranks has only started them.
func bySpeaker(folders []string) []string {
	type speaker struct {
		folder string
		order  int
	}
	speakers := make([]speaker, len(folders))
	for i, folder := range folders {
		var facts struct {
			Role model.Role `json:"role"`
			Rank *int       `json:"rank"`
		}
		_ = record.ReadJSONIn(folder, record.ProcessName, &facts) // damage is diagnosed by readProcess
		speakers[i] = speaker{folder, 1 << 30}
		switch {
		case facts.Rank != nil && *facts.Rank >= 0:
			speakers[i].order = *facts.Rank
		case facts.Role == model.RoleMain:
			speakers[i].order = 1<<30 - 1
		}
	}
	slices.SortStableFunc(speakers, func(a, b speaker) int { return cmp.Compare(a.order, b.order) })
	out := make([]string, len(speakers))
	for i := range speakers {
		out[i] = speakers[i].folder
	}
	return out
}

// process adds one process folder.
func (r *sessionReader) process(folder string) {
	if _, err := record.StatIn(folder, record.ProcessName); errors.Is(err, fs.ErrNotExist) {
		if _, err := record.StatIn(folder, eventsName); err != nil {
			return // not a process's, or one that had no time to write anything
		}
	}
	before := len(r.s.Inputs)
	p, err := readProcess(folder, r.s)
	r.relative(before)
	if err != nil {
		r.diagnose(folder, "process", 1, plain(err))
	}
	if p == nil {
		return
	}
	r.s.Processes = append(r.s.Processes, p)
	r.folders = append(r.folders, folder)
	r.calls(folder)
	r.lines(folder)
}

// samples adds the Python stacks that launchers took from outside to the processes.
func (r *sessionReader) samples(folders []string) {
	for _, folder := range folders {
		path := filepath.Join(folder, record.SamplesName)
		if _, err := r.stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // the program ran without a sampler
		}
		before := r.sampleCount()
		err := readSamples(folder, r.s)
		in := r.input(path, "samples")
		in.Events = r.sampleCount() - before
		if err != nil {
			in.Diagnostics = append(in.Diagnostics, model.Diagnostic{Kind: "samples", Count: 1, FirstOffset: -1, Text: plain(err)})
		}
	}
}

func (r *sessionReader) sampleCount() (n int64) {
	for _, p := range r.added() {
		n += int64(p.Samples.Len())
	}
	return n
}

// sources adds the program texts that were kept with the session.
func (r *sessionReader) sources() {
	if err := LoadSources(r.dir, r.s); err != nil {
		r.diagnose(filepath.Join(r.dir, record.SourceDir, "index.json"), "sources", 1, plain(err))
	}
}

// LoadSources adds the program texts kept in the session directory dir to s.Sources.
func LoadSources(dir string, s *model.Session) error {
	index, err := record.ReadSourceIndex(dir)
	if err != nil {
		return err
	}
	if s.Sources == nil {
		s.Sources = map[string]*model.Source{}
	}
	texts := map[string]*model.Source{}
	for path, name := range index {
		if len(s.Sources) >= record.MaxSources {
			break
		}
		if have := texts[name]; have != nil {
			s.Sources[path] = &model.Source{Path: path, Lines: have.Lines}
			continue
		}
		text, err := record.ReadSource(dir, name)
		if err != nil {
			continue // one text less; the report shows the line without it
		}
		source := &model.Source{Path: path, Lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
		texts[name], s.Sources[path] = source, source
	}
	return nil
}

// plain is an error's text without the paths that a reader of the session may not have.
func plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func init() { RegisterDirectory(DirectoryFormat{Match: record.IsSession, Open: openSession}) }
