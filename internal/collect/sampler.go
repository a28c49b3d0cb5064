package collect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// DefaultHz is the sampling rate where none is asked for.
const DefaultHz = 100

// Rhythm of the sampler's other work.
const (
	scanEvery = 100 * time.Millisecond
	scanMost  = 300 * time.Millisecond // where looking takes long, it may take a hundredth of the time
	cutEvery  = 2 * time.Second
	longSleep = 50 * time.Millisecond // the longest wait between looks at the stop flag
)

// SamplerOptions say what is sampled and where it goes.
type SamplerOptions struct {
	PID int // root of the process tree
	Hz  float64
	Dir string // the launcher's folder; "" writes nothing
	// Host names the machine in what is written.
	Host string
	// Native asks for native frames between the Python frames.
	Native NativeMode
	// Live, where set, is called in the sampling goroutine for every sample.
	Live func(LiveSample)
}

// LiveSample is one sample on its way. Frames are innermost first and valid during the call only.
type LiveSample struct {
	PID     int
	Process record.SampleProcess
	Thread  int32
	Name    string
	Mono    int64
	State   model.ThreadState
	Flags   uint8
	// GILs is how many such locks the process's interpreters have: 0 where they run without, and SampleAttached tells who
	// runs Python; several where subinterpreters have their own.
	GILs   int
	Frames []record.SampleFrame
}

// SampledProcess is what became of one process of the tree.
type SampledProcess struct {
	record.SampleProcess
	Samples, Failed, Moved int64
	// Reason says why the process was not sampled, "" where it was or where it runs no Python.
	Reason string
	// Native counts samples by how much of their native frames was read, where those were asked for; NativeReason says
	// why there are none, or none of running threads.
	Native       NativeCounts
	NativeReason string
}

// SamplerStats are the sampler's own account.
type SamplerStats struct {
	AskedHz, AchievedHz float64
	Wakes, Late         int64 // wake-ups; those that came later than half a period
	Samples, Failed     int64
	Moved               int64 // samples whose innermost frame changed during the reading; they count
	CPU                 time.Duration
	Wall                time.Duration
	Bytes               int64
	FirstSample         time.Duration // from the start; 0 none
	RootEnded           time.Duration // from the start, when the root of the tree was seen to have ended; 0 not
	Processes           []SampledProcess
	WriteError          string
}

// Sampler reads the Python stacks of a process tree from outside, until it is stopped or the tree is gone.
type Sampler struct {
	opts    SamplerOptions
	period  time.Duration
	tree    *tree
	writer  *record.SampleWriter
	chunks  chan *record.SampleChunk
	written chan struct{}
	done    chan struct{}
	stop    atomic.Bool
	stats   SamplerStats
	file    *record.SampleFile
	log     *treeLog
	follow  follower
	start   int64
	wrote   atomic.Int64 // CPU ns of the writing goroutine
	wakes   atomic.Int64
	failure atomic.Pointer[string]
}

// StartSampler begins to sample the tree under opts.PID. It fails only where its files cannot be made; a process that
// cannot be read is in the statistics, with the reason.
func StartSampler(ctx context.Context, opts SamplerOptions) (*Sampler, error) {
	if opts.Hz <= 0 {
		opts.Hz = DefaultHz
	}
	if opts.Host == "" {
		opts.Host, _ = os.Hostname()
	}
	mono, unix := clockPair()
	s := &Sampler{opts: opts, period: time.Duration(1e9 / opts.Hz), writer: record.NewSampleWriter(unix, mono),
		chunks: make(chan *record.SampleChunk, 64), written: make(chan struct{}), done: make(chan struct{}), start: mono}
	s.stats.AskedHz = opts.Hz
	if opts.Dir != "" {
		var err error
		if s.file, err = record.CreateSampleFile(filepath.Join(opts.Dir, record.SamplesName)); err != nil {
			return nil, err
		}
		if s.log, err = openTreeLog(filepath.Join(opts.Dir, record.TreeName)); err != nil {
			s.file.Close()
			return nil, err
		}
		s.log.clock(mono, unix)
	}
	s.tree = newTree(s)
	go s.write()
	go s.loop(ctx)
	return s, nil
}

// Stop ends the sampling, writes what is left and gives the account. It may be called more than once.
func (s *Sampler) Stop() SamplerStats {
	s.stop.Store(true)
	<-s.done
	return s.stats
}

// Wakes is how often stacks were taken so far.
func (s *Sampler) Wakes() int64 { return s.wakes.Load() }

// Done is closed when the tree is gone or the sampler was stopped.
func (s *Sampler) Done() <-chan struct{} { return s.done }

// loop wakes up at jittered times: a fixed rhythm would beat with that of the program.
func (s *Sampler) loop(ctx context.Context) {
	runtime.LockOSThread()
	if s.opts.Native != NativeStop {
		defer runtime.UnlockOSThread()
	} // else the thread ends with this goroutine, and the kernel lets go whatever it may still hold
	begin := threadCPU()
	next := s.start
	nextScan, nextUsage, nextCut := int64(0), int64(0), s.start+int64(cutEvery)
	for !s.stop.Load() && ctx.Err() == nil {
		now := monotonic()
		if now >= nextScan || s.tree.hurry {
			cost := threadCPU()
			s.tree.scan(now)
			nextScan = now + min(max(100*(threadCPU()-cost), int64(scanEvery)), int64(scanMost))
			if s.tree.over {
				break
			}
		}
		if now >= nextUsage {
			nextUsage = s.tree.noteUsage(now)
		}
		s.tree.sample()
		s.wakes.Add(1)
		s.follow.next(s.tree)
		if now >= nextCut {
			s.cut(now)
			nextCut = now + int64(cutEvery)
		}
		next = s.wait(next)
	}
	s.follow.free(forever)
	s.finish(monotonic(), begin)
}

// wait sleeps until the next wake-up and returns when it was due. One that is missed by a whole period is dropped, not
// made up for: samples in a row would count one moment twice.
func (s *Sampler) wait(next int64) int64 {
	next += int64(float64(s.period) * (0.5 + rand.Float64()))
	now := monotonic()
	if now > next+int64(s.period) {
		s.late()
		return now
	}
	for now < next && !s.stop.Load() {
		now = sleepUntil(min(next, now+int64(longSleep)))
	}
	if now > next+int64(s.period)/2 {
		s.late()
	}
	return next
}

// late counts a wake-up that came too late. What holds the processor of the followed thread so long may do it again.
func (s *Sampler) late() {
	s.stats.Late++
	s.tree.late()
	s.follow.free(afterLate)
}

// cut hands a chunk over to the writing goroutine. Should the disk be so slow that chunks pile up, samples stay in
// memory until the next cut.
func (s *Sampler) cut(now int64) {
	mono, unix := clockPair()
	if len(s.chunks) == cap(s.chunks) {
		return
	}
	s.chunks <- s.writer.Cut(now)
	s.writer.SetClock(unix, mono)
	if s.log != nil {
		s.log.clock(mono, unix)
		s.log.flush()
	}
}

// write encodes and stores chunks.
func (s *Sampler) write() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.written)
	for c := range s.chunks {
		if s.file == nil {
			continue
		}
		begin := threadCPU()
		if err := s.file.Write(c); err != nil && s.failure.Load() == nil {
			text := err.Error()
			s.failure.Store(&text)
		}
		s.wrote.Add(threadCPU() - begin)
	}
}

func (s *Sampler) finish(now, begin int64) {
	s.tree.finish(now)
	s.chunks <- s.writer.Cut(now)
	close(s.chunks)
	<-s.written
	st := &s.stats
	st.Wakes = s.wakes.Load()
	st.CPU = time.Duration(threadCPU() - begin + s.wrote.Load())
	st.Wall = time.Duration(now - s.start)
	if st.Wall > 0 {
		st.AchievedHz = float64(st.Wakes) / st.Wall.Seconds()
	}
	if text := s.failure.Load(); text != nil {
		st.WriteError = *text
	}
	if s.file != nil {
		st.Bytes = s.file.Bytes
		s.log.sampler(now, st)
		if err := s.log.close(); err != nil && st.WriteError == "" {
			st.WriteError = fmt.Sprintf("write %s: %v", record.TreeName, err)
		}
		if err := s.file.Close(); err != nil && st.WriteError == "" {
			st.WriteError = err.Error()
		}
	}
	close(s.done)
}
