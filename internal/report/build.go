package report

import (
	"fmt"
	"sync"

	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
)

// Options says what a report should hold.
type Options struct {
	Version string // of bottleneck
	Path    string // how the user named the session, for the next commands; "" unknown
	// Ranks are the ranks that tables by rank should show; empty = all.
	Ranks []int
	// GroupByInputShape and GroupByStack split the operator table (GroupByStack: frames; 0 = off).
	GroupByInputShape bool
	GroupByStack      int
	// GroupByModule splits it by the module that operators ran in.
	GroupByModule bool
	// Measured are prices that were measured after the program's end; nil where none were.
	Measured *Measured
	// MaxRows bounds the Python tables of the document (default 100).
	MaxRows int
	// Sections are the names of Sections that will be shown: tables that none of them needs are not computed. Empty = all.
	Sections []string
}

// Build makes the report of a session. It never fails: a part that cannot be made is named in Report.Unread with the reason.
func Build(s *model.Session, opt Options) *Report { return build(s, opt, nil) }

func newBuilder(s *model.Session, opt Options) *Builder {
	if opt.MaxRows <= 0 {
		opt.MaxRows = 100
	}
	b := &Builder{S: s, opt: opt, R: EmptyReport(), points: MaxPoints}
	b.devices, b.kernels = sync.OnceValue(b.allDevices), sync.OnceValue(b.allKernels)
	b.replay = sync.OnceValue(b.replayed)
	b.R.Tool, b.R.Growing = opt.Version, s.Growing
	return b
}

// build makes the report of a session whose traces, where merged is not nil, are gone already.
func build(s *model.Session, opt Options, merged *Merge) *Report {
	b := newBuilder(s, opt)
	b.merged = merged
	b.guard("inputs", b.inputs)
	b.guard("environment", b.environment)
	b.guard("run", b.run)
	b.guard("steps", b.steps)
	wait := b.tables() // which fill parts of the report that the following do not touch
	b.guard("analyses", b.analyse)
	b.guard("measured fixes", b.measured)
	b.guard("python", b.python)
	b.guard("native", b.native)
	b.guard("loaders", b.loaders)
	b.guard("ranks", b.ranks)
	wait()
	b.guard("rank clocks", b.rankClocks)
	b.guard("processes", b.systemRows)
	b.guard("memory snapshot", b.onlySnapshots)
	b.guard("contents", b.onlyContents)
	b.guard("next commands", b.next)
	b.R.sanitise()
	return b.R
}

// Builder carries what the parts of a report share while it is made.
type Builder struct {
	S   *model.Session
	opt Options
	R   *Report
	res results
	// What several parts of the report need of the traces; computed once, by whoever is first.
	devices func() *devices
	kernels func() []device.Kernel
	replay  func() *replay.Session // of traces from elsewhere; nil where there is nothing to replay
	// merged holds what was taken out of the traces while they were there; nil where they still are.
	merged *Merge
	points int // of a memory timeline, at most
}

// devices is what was found out about the devices of each trace.
type devices struct {
	gpus  [][]device.GPU
	parts []traced.TracePart
}

func (b *Builder) gpus() [][]device.GPU { return b.devices().gpus }

func (b *Builder) traceParts() []traced.TracePart { return b.devices().parts }

// guard runs one part; a part that panics on hostile input is left out and named, the rest stands.
func (b *Builder) guard(name string, f func()) {
	if broken := guarded(name, f); broken != "" {
		b.R.Unread = append(b.R.Unread, broken)
	}
}

// guarded runs f and says how it failed, "" if it did not.
func guarded(name string, f func()) (broken string) {
	defer func() {
		if e := recover(); e != nil {
			broken = fmt.Sprintf("%s: internal error: %v", name, e)
		}
	}()
	f()
	return ""
}

// EmptyReport has every list made, so that none is null in the document.
func EmptyReport() *Report {
	return &Report{
		Schema:  Schema,
		Verdict: Verdict{Bound: "unknown", Sentence: "nothing could be judged.", Confidence: Confidence{Level: "low", Why: "no data"}},
		Inputs:  []Input{}, Steps: []StepKind{}, Breakdown: []Part{}, Findings: []Finding{},
		KeyAverages: []OpRow{}, Kernels: []KernelRow{}, GPU: []GPURow{}, Communication: []CommRow{},
		CriticalPath: []CriticalRow{}, CriticalRanks: []RankShare{}, Roofline: []Roofline{}, Copies: []CopyRow{},
		Bandwidth: []BandwidthRow{}, Streams: []StreamRow{}, Sequences: []SequenceRow{}, StepParts: []StepPartsRow{}, Workers: []Worker{},
		Loaders: []Loader{}, Calls: []CallRow{}, Lines: []CallRow{}, CountedLines: []CountedFunc{}, Actions: []ActionRow{},
		Memory: []MemoryRow{}, Snapshots: []SnapshotRow{}, System: []SystemRow{}, Tables: []Table{}, Contents: []Contents{},
		Ranks: []Rank{}, Files: map[string]File{},
		Next: []string{}, Unread: []string{},
	}
}

func ptr[T any](v T) *T { return &v }

// orEmpty turns a nil slice into an empty one.
func orEmpty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func RankPtr(rank int) *int {
	if rank < 0 {
		return nil
	}
	return &rank
}

func (b *Builder) inputs() {
	for _, in := range b.S.Inputs {
		row := Input{Path: in.Path, Format: in.Format, Bytes: in.Bytes, Events: in.Events, Counts: in.Counts,
			Rank: RankPtr(in.Rank), Diagnostics: []Diagnostic{}, Note: in.Note}
		if row.Counts == nil {
			row.Counts = map[string]int64{}
		}
		for _, d := range in.Diagnostics {
			out := Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text}
			if d.FirstOffset >= 0 {
				out.FirstOffset = ptr(d.FirstOffset)
			}
			row.Diagnostics = append(row.Diagnostics, out)
		}
		b.R.Inputs = append(b.R.Inputs, row)
		f := b.R.Files[in.Format]
		f.Count++
		f.Bytes += in.Bytes
		if len(f.Paths) < 5 {
			f.Paths = append(orEmpty(f.Paths), in.Path)
		}
		b.R.Files[in.Format] = f
	}
}

func (b *Builder) environment() {
	e := &b.S.Environment
	out := Environment{Python: e.Python, Torch: e.Torch, CUDA: e.CUDA, HIP: e.HIP, OS: e.OS, Host: e.Host, CPUs: e.CPUs,
		CPUModel: e.CPUModel, CPUQuota: e.CPUQuota, ThrottledSeconds: e.ThrottledSeconds, Affinity: orEmpty(e.Affinity), Threads: e.Threads,
		SHMBytes: e.SHMBytes, Libc: e.Libc, HugePages: e.HugePages, MemoryBytes: e.MemoryBytes,
		LoadBefore: e.LoadBefore, OthersBusyCores: e.OthersBusyCores, GPUs: []GPU{},
		Packages: []Package{}, Missing: orEmpty(e.Missing)}
	if out.Threads == nil {
		out.Threads = map[string]string{}
	}
	for _, g := range e.GPUs {
		out.GPUs = append(out.GPUs, gpu(g))
	}
	for _, p := range e.Packages {
		out.Packages = append(out.Packages, Package{p.Name, p.Version})
	}
	b.R.Environment = out
}

func gpu(g model.GPU) GPU {
	out := GPU{Index: g.Index, Name: g.Name, MemoryBytes: g.MemoryBytes, SMs: g.SMs, ClockMHz: g.ClockMHz,
		MaxClockMHz: g.MaxClockMHz, PowerState: g.PowerState, UsedByOthers: g.UtilisationByOthersPart}
	if g.ComputeMajor > 0 {
		out.ComputeCapability = fmt.Sprintf("%d.%d", g.ComputeMajor, g.ComputeMinor)
	}
	return out
}
