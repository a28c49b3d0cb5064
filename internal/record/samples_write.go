package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/model"
)

// timeStep is what sample times are rounded to, in ns: finer than a sampler's own jitter, and it halves the file.
const timeStep = 10_000

// SampleWriter collects samples of many processes and cuts them into chunks. Add and Cut are called by the sampling
// goroutine; Write may run in another one meanwhile.
type SampleWriter struct {
	Stacks *StackTable
	procs  []*ProcessSamples
	offset int64 // Unix time minus monotonic time, in ns
	began  int64 // monotonic
}

// ProcessSamples are the samples of one process since the last cut.
type ProcessSamples struct {
	Process SampleProcess
	Counts  SampleCounts
	w       *SampleWriter
	groups  []sampleGroup
	at      map[groupKey]int32
	threads map[int32]*threadRun
	gone    bool
}

type groupKey struct {
	thread int32
	stack  int32
	state  model.ThreadState
	flags  uint8
}

// sampleGroup are samples of one thread in one place: single times, or runs of unchanged sleep.
type sampleGroup struct {
	groupKey
	times []int64 // Unix ns
	runs  []run
}

// run is a thread that was found in the same place n times in a row, asleep.
type run struct{ first, last, n int64 }

type threadRun struct {
	group int32 // of the last sample; -1 none
	name  string
}

// NewSampleWriter makes a writer whose times are monotonic ns; unix and mono are one moment on both clocks.
func NewSampleWriter(unix, mono int64) *SampleWriter {
	return &SampleWriter{Stacks: NewStackTable(), offset: unix - mono, began: mono}
}

// SetClock tells a new clock pair; it holds for samples added from now on.
func (w *SampleWriter) SetClock(unix, mono int64) { w.offset = unix - mono }

// Process begins the samples of a process.
func (w *SampleWriter) Process(p SampleProcess, hz float64) *ProcessSamples {
	ps := &ProcessSamples{Process: p, w: w, at: map[groupKey]int32{}, threads: map[int32]*threadRun{}}
	ps.Counts.AskedHz = hz
	w.procs = append(w.procs, ps)
	return ps
}

// End says that the process is gone; its last samples go with the next cut.
func (p *ProcessSamples) End() { p.gone = true }

// NameThread tells a thread's name.
func (p *ProcessSamples) NameThread(thread int32, name string) { p.thread(thread).name = name }

func (p *ProcessSamples) thread(id int32) *threadRun {
	t := p.threads[id]
	if t == nil {
		t = &threadRun{group: -1}
		p.threads[id] = t
	}
	return t
}

// Add adds a sample; mono is its monotonic time in ns, stack a number of the writer's table.
func (p *ProcessSamples) Add(mono int64, thread, stack int32, state model.ThreadState, flags uint8) {
	at := mono + p.w.offset
	at = (at + timeStep/2) / timeStep * timeStep
	key := groupKey{thread, stack, state, flags}
	t := p.thread(thread)
	asleep := state == model.StateBlocked || state == model.StateIdle
	if g := t.group; g >= 0 && p.groups[g].groupKey == key {
		p.groups[g].more(at, asleep)
		return
	}
	g, ok := p.at[key]
	if !ok {
		g = int32(len(p.groups))
		p.at[key] = g
		p.groups = append(p.groups, sampleGroup{groupKey: key})
	}
	t.group = g
	if asleep {
		p.groups[g].runs = append(p.groups[g].runs, run{at, at, 1})
		return
	}
	p.groups[g].times = append(p.groups[g].times, at)
}

// more adds a sample that follows another one of the same group.
func (g *sampleGroup) more(at int64, asleep bool) {
	if n := len(g.runs); asleep && n > 0 {
		g.runs[n-1].last = at
		g.runs[n-1].n++
		return
	}
	g.times = append(g.times, at)
}

// SampleChunk is what was collected between two cuts, ready to be encoded.
type SampleChunk struct {
	stacks      StackTable // its slices up to the cut
	procs       []*ProcessSamples
	unix, mono  int64
	begin, span int64
}

// Cut takes everything that was added since the last cut. now is monotonic.
func (w *SampleWriter) Cut(now int64) *SampleChunk {
	c := &SampleChunk{stacks: *w.Stacks, unix: now + w.offset, mono: now, begin: w.began + w.offset, span: now - w.began}
	kept := w.procs[:0:0]
	for _, p := range w.procs {
		part := *p
		part.Counts.FromNS, part.Counts.DurNS = c.begin, c.span
		part.threads = map[int32]*threadRun{}
		for id, t := range p.threads {
			part.threads[id] = &threadRun{name: t.name}
			t.group = -1
		}
		if len(part.groups) > 0 || part.Counts.Snapshots > 0 || part.Counts.Failed > 0 {
			c.procs = append(c.procs, &part)
		}
		if p.gone {
			continue
		}
		p.groups, p.at = nil, map[groupKey]int32{}
		p.Counts = SampleCounts{AskedHz: p.Counts.AskedHz}
		kept = append(kept, p)
	}
	w.procs, w.began = kept, now
	if w.Stacks.Full() {
		w.Stacks.Reset()
	}
	return c
}

// SampleFile writes chunks to a file.
type SampleFile struct {
	f   *os.File
	zip *zstd.Encoder
	raw []byte
	out []byte
	// waiting are whole chunks that could not be written yet: the disk may have room again.
	waiting []byte
	// Bytes is what was written so far.
	Bytes int64
}

const (
	// SampleReserve is the room on the disk that is kept for the chunks to come, in bytes: a program may fill the disk at any moment.
	SampleReserve = 256 << 10
	// maxWaiting bounds the chunks that wait in memory.
	maxWaiting = 8 << 20
)

// CreateSampleFile makes the file at path, for its owner only.
func CreateSampleFile(path string) (*SampleFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, FileMode)
	if err != nil {
		return nil, fmt.Errorf("create samples: %w", err)
	}
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(1<<20))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("create samples: %w", err)
	}
	KeepRoom(f, 0, SampleReserve)
	return &SampleFile{f: f, zip: zip}, nil
}

// Write appends one chunk: its length in four bytes, little-endian, and a zstd frame.
func (s *SampleFile) Write(c *SampleChunk) error {
	s.raw = c.encode(s.raw[:0])
	s.out = s.zip.EncodeAll(s.raw, append(s.out[:0], 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(s.out, uint32(len(s.out)-4))
	if len(s.waiting)+len(s.out) > maxWaiting {
		return fmt.Errorf("write samples: the disk has had no room for %d bytes", len(s.waiting))
	}
	s.waiting = append(s.waiting, s.out...)
	_ = s.flush() // what waits is tried again with the next chunk and at the end
	return nil
}

// flush writes what waits, whole or not at all.
func (s *SampleFile) flush() error {
	if len(s.waiting) == 0 {
		return nil
	}
	if _, err := s.f.Write(s.waiting); err != nil {
		_ = s.f.Truncate(s.Bytes)
		return fmt.Errorf("write samples: %w", err)
	}
	s.Bytes += int64(len(s.waiting))
	s.waiting = s.waiting[:0]
	KeepRoom(s.f, s.Bytes, SampleReserve)
	return nil
}

// Close writes what waits, gives the room back that was kept, and closes the file.
func (s *SampleFile) Close() error {
	err := s.flush()
	_ = s.zip.Close()
	_ = s.f.Truncate(s.Bytes)
	return errors.Join(err, s.f.Close())
}

var _ io.Closer = (*SampleFile)(nil)
