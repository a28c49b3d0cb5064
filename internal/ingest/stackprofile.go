package ingest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of stack profiles of other tools: a file may state any weight, depth or count.
const (
	maxProfileSamples = 1 << 20 // of the model; heavier profiles are counted in larger units
	maxProfileStacks  = 1 << 24
	maxProfileDepth   = 1 << 14

	maxDistinctWeights = 32
	maxWeight          = 1e18
)

var errProfileSize = errors.New("more than 16 million distinct stacks")

// stackProfile collects the stacks of a sampling profiler's file with their weights, and makes a process of them whose
// samples stand for equal weights each. The zero value is ready.
type stackProfile struct {
	texts   model.Strings
	stacks  model.Stacks
	frames  map[model.Frame]model.FrameID
	steps   map[stackStep]model.StackID
	threads []*profileThread
	period  float64   // weight of one sample, in the file's unit; 0: found from the weights
	weights []float64 // distinct ones, as far as they are needed to find it
	total   float64
}

// profileThread is one thread of a profile: stacks in their order, each with its weight in the unit of the file.
type profileThread struct {
	name   string
	start  float64 // of the first stack, where the file says
	stack  []model.StackID
	weight []float64
}

func (p *stackProfile) thread(name string) *profileThread {
	t := &profileThread{name: name}
	p.threads = append(p.threads, t)
	return t
}

// add appends a stack to a thread. Empty stacks and weights that are no positive number are time without the thread.
func (p *stackProfile) add(t *profileThread, stack model.StackID, weight float64) {
	if stack == model.NoStack || !(weight > 0) || weight > maxWeight {
		return
	}
	p.total += weight
	if len(p.weights) < maxDistinctWeights && !slices.Contains(p.weights, weight) {
		p.weights = append(p.weights, weight)
	}
	if n := len(t.stack); n > 0 && t.stack[n-1] == stack {
		t.weight[n-1] += weight
		return
	}
	t.stack = append(t.stack, stack)
	t.weight = append(t.weight, weight)
}

func (p *stackProfile) frame(function, file string, first, line int32) model.FrameID {
	if p.frames == nil {
		p.frames = map[model.Frame]model.FrameID{}
	}
	f := model.Frame{Function: p.texts.Intern(function), File: p.texts.Intern(file), First: first, Line: line}
	id, known := p.frames[f]
	if !known {
		id = model.FrameID(len(p.stacks.Frames))
		p.stacks.Frames = append(p.stacks.Frames, f)
		p.frames[f] = id
	}
	return id
}

// push is the stack of frame called from parent.
func (p *stackProfile) push(parent model.StackID, frame model.FrameID) (model.StackID, error) {
	if p.steps == nil {
		p.steps = map[stackStep]model.StackID{}
	}
	step := stackStep{parent, frame}
	id, known := p.steps[step]
	if !known {
		if len(p.stacks.Frame) >= maxProfileStacks {
			return 0, errProfileSize
		}
		id = model.StackID(len(p.stacks.Frame))
		p.stacks.Frame = append(p.stacks.Frame, frame)
		p.stacks.Parent = append(p.stacks.Parent, parent)
		p.steps[step] = id
	}
	return id, nil
}

// locationFrame reads the usual ways to write a frame in one text: "function (file:line)" of py-spy, perf and ours,
// "file:function:line" of austin, else a function alone.
func (p *stackProfile) locationFrame(text string) model.FrameID {
	if open := strings.LastIndex(text, " ("); open > 0 && strings.HasSuffix(text, ")") {
		inside := text[open+2 : len(text)-1]
		if colon := strings.LastIndexByte(inside, ':'); colon > 0 {
			if line, ok := lineNumber(inside[colon+1:]); ok {
				return p.frame(text[:open], inside[:colon], 0, line)
			}
		}
		return p.frame(text[:open], inside, 0, 0)
	}
	if last := strings.LastIndexByte(text, ':'); last > 0 {
		if line, ok := lineNumber(text[last+1:]); ok {
			if mid := strings.LastIndexByte(text[:last], ':'); mid > 0 {
				return p.frame(text[mid+1:last], text[:mid], 0, line)
			}
		}
	}
	return p.frame(text, "", 0, 0)
}

func lineNumber(text string) (int32, bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	n := int32(0)
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int32(c-'0')
	}
	return n, true
}

// unit is the weight that one sample of the model stands for: the greatest common divisor of the weights, as far as their
// rounding tells it, but not less than what keeps the samples within their bound.
func (p *stackProfile) unit() float64 {
	unit := p.period
	if unit <= 0 && len(p.weights) > 0 {
		smallest := slices.Min(p.weights)
		for _, w := range p.weights {
			unit = commonDivisor(unit, w, smallest/20)
		}
	}
	return max(unit, p.total/maxProfileSamples)
}

// commonDivisor is Euclid's algorithm on rounded numbers; a remainder below least counts as rounding.
func commonDivisor(a, b, least float64) float64 {
	for b > least {
		a, b = b, math.Mod(a, b)
	}
	return a
}

// process makes the model's process of what was collected. nsPerUnit turns weights into time; 0: weights are counts of
// samples whose period nobody states, which become a hundredth of a second each, as samplers usually take them.
func (p *stackProfile) process(format string, nsPerUnit float64) (*model.Process, error) {
	unit := p.unit()
	if len(p.stacks.Frame) == 0 || unit <= 0 {
		return nil, fmt.Errorf("a %s profile without samples", format)
	}
	period := unit * nsPerUnit
	if nsPerUnit <= 0 {
		period = 1e7
	}
	period = min(max(period, 1), 1e12)
	out := &model.Process{Rank: model.NoRank, LocalRank: model.NoRank, WorkerIndex: -1, Role: model.RoleMain,
		Samples: model.Samples{Stacks: p.stacks, Threads: map[int32]model.Str{}, Foreign: format, AskedHz: 1e9 / period,
			AchievedHz: 1e9 / period}}
	main, mainSamples := -1, 0
	first := p.firstStart()
	for i, t := range p.threads {
		start := model.Time(1)
		if nsPerUnit > 0 && t.start > first {
			start += model.Time(min((t.start-first)*nsPerUnit, 1e17))
		}
		out.Samples.Threads[int32(i+1)] = p.texts.Intern(t.name)
		n := t.emit(&out.Samples, int32(i+1), start, unit, period)
		rank := n
		if n > 0 && isMainThread(t.name) {
			rank = math.MaxInt
		}
		if rank > mainSamples {
			main, mainSamples = i, rank
			out.MainThread, out.Start, out.End = i+1, start, start+model.Time(period*float64(n))
		}
	}
	if main < 0 {
		return nil, fmt.Errorf("a %s profile without samples", format)
	}
	sort.Stable((*byTime)(&out.Samples))
	return out, nil
}

func (p *stackProfile) firstStart() float64 {
	first := math.Inf(1)
	for _, t := range p.threads {
		first = min(first, t.start)
	}
	return first
}

func isMainThread(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "mainthread") || strings.Contains(name, "main thread") || strings.Contains(name, "geckomain")
}

// emit writes the samples of a thread one after the other and returns their number. What a weight leaves over goes to the
// next, so that sums stay right to one unit.
func (t *profileThread) emit(to *model.Samples, thread int32, start model.Time, unit, period float64) int {
	owed, count := 0.0, 0
	for i, w := range t.weight {
		owed += w / unit
		n := int(math.Floor(owed + 1e-6))
		owed -= float64(n)
		for range min(n, 2*maxProfileSamples-to.Len()) {
			to.Time = append(to.Time, start+model.Time(float64(count)*period))
			to.Thread = append(to.Thread, thread)
			to.Stack = append(to.Stack, t.stack[i])
			to.State = append(to.State, model.StateUnknown)
			to.Flags = append(to.Flags, model.SampleInProcess)
			count++
		}
	}
	return count
}

// store moves a profile into the session: strings are interned again there, which many inputs share.
func (p *stackProfile) store(s *model.Session, out *model.Process) {
	text := func(id model.Str) model.Str { return s.Strings.Intern(p.texts.Text(id)) }
	for i := range out.Samples.Stacks.Frames {
		f := &out.Samples.Stacks.Frames[i]
		f.Function, f.File = text(f.Function), text(f.File)
	}
	for thread, name := range out.Samples.Threads {
		out.Samples.Threads[thread] = text(name)
	}
	s.Processes = append(s.Processes, out)
}

// addProfile ends the reading of a sampling profiler's file: the process and its Input join the session.
func addProfile(o *opening, src source, format string, p *stackProfile, nsPerUnit float64,
	damage ...model.Diagnostic) (func() error, error) {
	out, err := p.process(format, nsPerUnit)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: err.Error(), err: err}
	}
	return func() error {
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: format, Bytes: src.size, Rank: model.NoRank,
			Events: int64(out.Samples.Len()), Diagnostics: damage})
		p.store(o.s, out)
		return nil
	}, nil
}
