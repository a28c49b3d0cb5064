package ingest

import (
	"fmt"
	"io"
	"sort"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// maxSamples bounds the samples of a session: a file may claim runs of any length.
const maxSamples = 1 << 28

// Samples that a file can hold: a thread that sleeps is a run, which takes some 30 bytes for some thousand samples.
const (
	smallSamples   = 1 << 22
	samplesPerByte = 256
)

// readSamples adds the samples of a launcher's folder to the processes of the session, which it extends by those that
// only the sampler saw. Of a damaged file everything before the damage is used; the error says where it is.
func readSamples(folder string, s *model.Session) error {
	f, err := record.OpenIn(folder, record.SamplesName)
	if err != nil {
		return fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	return readSampleStream(f, s)
}

func readSampleStream(r io.Reader, s *model.Session) error {
	in := &sampleReader{s: s, of: map[sampleKey]*processSamples{}}
	err := record.ReadSamples(r, in.batch)
	for _, p := range in.order {
		p.finish()
	}
	return err
}

// sampleKey identifies a process beyond the reuse of its number.
type sampleKey struct {
	host  string
	pid   int
	ticks int64
}

type sampleReader struct {
	s     *model.Session
	of    map[sampleKey]*processSamples
	order []*processSamples
	total int64
}

// processSamples builds the samples of one process.
type processSamples struct {
	p      *model.Process
	to     *model.Samples
	counts record.SampleCounts
	frames map[model.Frame]model.FrameID
	stacks map[stackStep]model.StackID
}

// stackPair is a stack of Python frames, and the same with native frames.
type stackPair struct{ python, native model.StackID }

type stackStep struct {
	parent model.StackID
	frame  model.FrameID
}

func (in *sampleReader) batch(b *record.SampleBatch) error {
	p := in.process(b)
	p.counts.Add(b.Counts)
	frames := make([]model.FrameID, len(b.Locations))
	for i := range frames {
		frames[i] = -1
	}
	stacks := make([]stackPair, len(b.Stacks))
	for i := range stacks {
		stacks[i].python = model.NoStack - 1
	}
	last := int64(0)
	for i := range b.Samples {
		st := &b.Samples[i]
		if pair := &stacks[st.Stack]; pair.python == model.NoStack-1 {
			pair.python, pair.native = p.stack(in.s.Strings, b, b.Stacks[st.Stack], frames)
		}
		if st.Name != "" {
			p.to.Threads[st.Thread] = in.s.Strings.Intern(st.Name)
		}
		if in.total += max(st.N, int64(len(st.Times))); in.total > min(maxSamples, smallSamples+samplesPerByte*b.Stored) {
			return fmt.Errorf("more samples than a file of its size can hold: %w", record.ErrSamplesDamaged)
		}
		st.EachTime(func(ns int64) {
			p.add(ns, st, stacks[st.Stack])
			last = max(last, ns)
		})
	}
	switch { // an agent that has not told of the end may have fallen silent before it
	case !p.p.Agent:
		p.p.End = max(p.p.End, model.Time(b.Counts.FromNS+b.Counts.DurNS))
	case p.p.Exit == "":
		p.p.End = max(p.p.End, model.Time(last))
	}
	return nil
}

// process finds the process that a batch is of, among those that the agent saw, or adds it.
func (in *sampleReader) process(b *record.SampleBatch) *processSamples {
	id := &b.Process
	key := sampleKey{id.Host, id.PID, id.StartTicks}
	if p := in.of[key]; p != nil {
		p.role(id)
		return p
	}
	p := &processSamples{frames: map[model.Frame]model.FrameID{}, stacks: map[stackStep]model.StackID{}}
	p.p = in.match(b)
	if p.p == nil {
		p.p = &model.Process{PID: id.PID, PPID: id.PPID, Host: id.Host, Role: id.Role, Rank: id.Rank, LocalRank: id.LocalRank,
			WorldSize: id.WorldSize, WorkerIndex: id.WorkerIndex, Command: id.Args, Start: model.Time(b.Counts.FromNS),
			Python: id.Python, MainThread: id.PID}
		in.s.Processes = append(in.s.Processes, p.p)
	}
	p.role(id)
	if p.p.Python == "" {
		p.p.Python = id.Python
	}
	// Samples from outside replace those that the agent took as a fallback: one moment must not count twice.
	p.p.Samples = model.Samples{Threads: map[int32]model.Str{}, AskedHz: b.Counts.AskedHz}
	p.to = &p.p.Samples
	in.of[key] = p
	in.order = append(in.order, p)
	return p
}

// role takes what the sampler learned of a process without an agent.
func (p *processSamples) role(id *record.SampleProcess) {
	if p.p.Listens != model.ListensYes && id.Listens != model.ListeningUnknown {
		p.p.Listens = id.Listens // it may begin to listen later
	}
	if p.p.Agent {
		return
	}
	if id.Role != "" {
		p.p.Role = id.Role
	}
	if id.WorkerIndex >= 0 {
		p.p.WorkerIndex = id.WorkerIndex
	}
}

// agentDelay is how long after the sampler first saw a process its agent may report: it loads only after the fork, the
// exec and the interpreter's start, which take seconds on a busy machine. Numbers are not reused that fast.
const agentDelay = model.Time(30e9)

// match finds the process by its number: a reused one by the time.
func (in *sampleReader) match(b *record.SampleBatch) *model.Process {
	var best *model.Process
	for _, p := range in.s.Processes {
		if p.PID != b.Process.PID || p.Host != "" && b.Process.Host != "" && p.Host != b.Process.Host || p.Samples.AskedHz != 0 {
			continue
		}
		end := model.Time(b.Counts.FromNS + b.Counts.DurNS)
		if p.Start > end+agentDelay || p.End != 0 && p.End < model.Time(b.Counts.FromNS) {
			continue
		}
		if best == nil || p.Start > best.Start {
			best = p
		}
	}
	return best
}

// stack interns one stack; locations are innermost first. native keeps its native frames, the other has Python's only:
// those name lines, and every analysis is about lines.
func (p *processSamples) stack(text *model.Strings, b *record.SampleBatch, locations []int32,
	frames []model.FrameID) (python, native model.StackID) {
	python, native = model.NoStack, model.NoStack
	mixed := false
	for i := len(locations) - 1; i >= 0; i-- {
		l := locations[i]
		if l < 0 || int(l) >= len(frames) {
			continue
		}
		if frames[l] < 0 {
			frames[l] = p.frame(text, &b.Locations[l])
		}
		foreign := b.Locations[l].Native
		if mixed = mixed || foreign; mixed {
			native = p.push(native, frames[l])
		}
		if !foreign {
			if python = p.push(python, frames[l]); !mixed {
				native = python
			}
		}
	}
	return python, native
}

// push is the stack that has one more frame than another.
func (p *processSamples) push(at model.StackID, frame model.FrameID) model.StackID {
	step := stackStep{at, frame}
	id, ok := p.stacks[step]
	if !ok {
		id = model.StackID(len(p.to.Stacks.Frame))
		p.to.Stacks.Frame = append(p.to.Stacks.Frame, step.frame)
		p.to.Stacks.Parent = append(p.to.Stacks.Parent, step.parent)
		p.stacks[step] = id
	}
	return id
}

func (p *processSamples) frame(text *model.Strings, f *record.SampleFrame) model.FrameID {
	m := model.Frame{Function: text.Intern(f.Function), File: text.Intern(f.File), First: f.First, Line: f.Line, Native: f.Native}
	id, ok := p.frames[m]
	if !ok {
		id = model.FrameID(len(p.to.Stacks.Frames))
		p.to.Stacks.Frames = append(p.to.Stacks.Frames, m)
		p.frames[m] = id
	}
	return id
}

func (p *processSamples) add(ns int64, s *record.StoredSample, stack stackPair) {
	to := p.to
	if stack.native != stack.python && to.Native == nil { // the first one with native frames
		to.Native = append([]model.StackID{}, to.Stack...)
	}
	if to.Native != nil {
		to.Native = append(to.Native, stack.native)
	}
	to.Time = append(to.Time, model.Time(ns))
	to.Thread = append(to.Thread, s.Thread)
	to.Stack = append(to.Stack, stack.python)
	to.State = append(to.State, s.State)
	to.Flags = append(to.Flags, s.Flags)
}

// finish puts the samples in order of time and states the rates.
func (p *processSamples) finish() {
	sort.Stable((*byTime)(p.to))
	p.to.AskedHz, p.to.Late, p.to.Failed = p.counts.AskedHz, p.counts.Late, p.counts.Failed
	if p.counts.DurNS > 0 {
		p.to.AchievedHz = float64(p.counts.Snapshots) / (float64(p.counts.DurNS) / 1e9)
	}
}

// byTime sorts the columns of samples together.
type byTime model.Samples

func (b *byTime) Len() int           { return len(b.Time) }
func (b *byTime) Less(i, j int) bool { return b.Time[i] < b.Time[j] }
func (b *byTime) Swap(i, j int) {
	b.Time[i], b.Time[j] = b.Time[j], b.Time[i]
	b.Thread[i], b.Thread[j] = b.Thread[j], b.Thread[i]
	b.Stack[i], b.Stack[j] = b.Stack[j], b.Stack[i]
	if b.Native != nil {
		b.Native[i], b.Native[j] = b.Native[j], b.Native[i]
	}
	b.State[i], b.State[j] = b.State[j], b.State[i]
	b.Flags[i], b.Flags[j] = b.Flags[j], b.Flags[i]
}
