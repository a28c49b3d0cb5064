package ingest

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"bottleneck/internal/model"
)

// maxStackFrames bounds one in-process sample's stack.
const maxStackFrames = 256

// agentRows builds a process from the lines of events.jsonl.gz. Times stay monotonic until finish, when all clock pairs
// are known.
type agentRows struct {
	texts   *model.Strings
	p       *model.Process
	clock   agentClock
	loaders map[int64]int32 // the agent's number -> index in p.Loaders
	stacks  map[int64]model.StackID
	tree    map[stackKey]model.StackID
	frames  map[model.Frame]model.FrameID
	counts  map[string]int64
	taken   int64 // rows that made sense
	bad     int64
	seen    int64 // lines
	limit   int64 // of seen; 0 none
	full    bool  // limit was reached
	row     row   // of the line at hand; its memory is used again
	// Columns that a long run makes large, until finish.
	steps  rows[model.Step]
	spans  rows[model.Span]
	queues rows[model.QueueLength]
}

type stackKey struct {
	frame  model.FrameID
	parent model.StackID
}

func newAgentRows(texts *model.Strings, p *model.Process) *agentRows {
	return &agentRows{texts: texts, p: p, loaders: map[int64]int32{}, stacks: map[int64]model.StackID{}, tree: map[stackKey]model.StackID{},
		frames: map[model.Frame]model.FrameID{}, counts: map[string]int64{}}
}

// times reads two times and says whether they are in order.
func (r row) times(i int) (model.Time, model.Time, bool) {
	t0, ok0 := r.integer(i)
	t1, ok1 := r.integer(i + 1)
	return model.Time(t0), model.Time(t1), ok0 && ok1 && t1 >= t0
}

// line takes one line; false ends the reading.
func (a *agentRows) line(text []byte) bool {
	if a.seen++; a.limit > 0 && a.seen > a.limit {
		a.full = true
		return false
	}
	r, ok := splitRow(text, a.row[:0])
	if a.row = r; !ok || len(r) == 0 {
		a.bad++
		return true
	}
	kind := r.text(0)
	read, known := agentReaders[kind]
	if !known {
		return true // from a newer agent
	}
	if !read(a, r) {
		a.bad++
		return true
	}
	a.taken++
	a.counts[kind]++
	return true
}

// agentReaders read one kind of row each; false: it makes no sense.
var agentReaders = map[string]func(*agentRows, row) bool{
	"clock":    (*agentRows).readClock,
	"step":     (*agentRows).readStep,
	"wait":     (*agentRows).readWait,
	"fetch":    (*agentRows).readFetch,
	"queue":    (*agentRows).readQueue,
	"held":     (*agentRows).readHeld,
	"pages":    (*agentRows).readPages,
	"padding":  (*agentRows).readPadding,
	"asked":    (*agentRows).readAsked,
	"part":     (*agentRows).readPart,
	"updates":  (*agentRows).readUpdates,
	"unused":   (*agentRows).readUnused,
	"denormal": (*agentRows).readDenormal,
	"jacobian": (*agentRows).readJacobian,
	"saved":    (*agentRows).readSaved,
	"loader":   (*agentRows).readLoader,
	"span":     (*agentRows).readSpan,
	"window":   (*agentRows).readWindow,
	"stack":    (*agentRows).readStack,
	"sample":   (*agentRows).readSample,
	"note":     (*agentRows).readNote,
	"count":    (*agentRows).readCount,
}

func (a *agentRows) readClock(r row) bool {
	mono, ok := r.integer(1)
	unix, ok2 := r.integer(2)
	if ok && ok2 {
		a.clock.add(mono, unix)
	}
	return ok && ok2
}

var phases = map[string]model.PhaseKind{"warmup": model.PhaseWarmup, "baseline": model.PhaseBaseline, "trace": model.PhaseTrace,
	"detail": model.PhaseDetail, "edge": model.PhaseEdge}

func (a *agentRows) readStep(r row) bool {
	start, end, ok := r.times(4)
	phase, known := phases[r.text(6)]
	if !ok || !known {
		return false
	}
	a.steps.add(model.Step{
		Number: r.number(1), Kind: a.texts.Intern(r.text(2)), Source: model.StepSource(r.text(3)), Phase: phase, Start: start, End: end,
		Items: int32(clamp(r.number(7), 0, math.MaxInt32)), Thread: int(r.number(8)),
		DeviceDur: model.Dur(clamp(r.number(9), 0, math.MaxInt64)),
	})
	return true
}

// countSkipped finds by the steps' numbers how many between two of them have no row.
func countSkipped(steps []model.Step) {
	for i := range steps[:max(0, len(steps)-1)] {
		if next := &steps[i+1]; next.Start >= steps[i].End {
			steps[i].Skipped = clamp(next.Number-steps[i].Number-1, 0, maxSkipped)
		}
	}
}

// ofStepsAlone takes from the device's times what passed between two steps: the agent's are between the marks that end them. Steps without
// a row share the time of the one that follows.
func ofStepsAlone(steps []model.Step) {
	for i := 1; i < len(steps); i++ {
		st, before := &steps[i], &steps[i-1]
		switch gap := st.Start.Sub(before.End); {
		case st.DeviceDur <= 0 || gap <= 0:
		case before.Skipped > 0:
			st.DeviceDur = max(st.DeviceDur/model.Dur(before.Skipped+1), 1)
		default:
			st.DeviceDur = max(st.DeviceDur-gap, 1)
		}
	}
}

// maxSkipped bounds what a damaged number can claim: more steps than this a second no program makes in a year.
const maxSkipped = 1 << 40

func clamp(n, low, high int64) int64 { return max(low, min(n, high)) }

func (a *agentRows) loader(r row, i int) int32 {
	if n, ok := r.integer(i); ok {
		if index, known := a.loaders[n]; known {
			return index
		}
	}
	return -1
}

func (a *agentRows) readWait(r row) bool {
	start, end, ok := r.times(1)
	if ok {
		a.spans.add(model.Span{Kind: model.SpanDataWait, Start: start, End: end, Thread: int(r.number(3)),
			Loader: a.loader(r, 4), Value: r.number(5)})
	}
	return ok
}

// readFetch reads one fetched batch; Value is its batch index where that is known, else the number of its items.
func (a *agentRows) readFetch(r row) bool {
	start, end, ok := r.times(1)
	if !ok {
		return false
	}
	value, known := r.integer(5)
	if !known {
		value = r.number(6)
	}
	a.spans.add(model.Span{Kind: model.SpanFetch, Start: start, End: end, Thread: int(r.number(3)), Loader: a.loader(r, 4), Value: value})
	return true
}

func (a *agentRows) readQueue(r row) bool {
	t, ok := r.integer(1)
	loader := a.loader(r, 2)
	if ok && loader >= 0 {
		a.queues.add(model.QueueLength{Time: model.Time(t), Loader: loader, Ready: int32(clamp(r.number(3), 0, math.MaxInt32))})
	}
	return ok
}

func (a *agentRows) readHeld(r row) bool {
	t, ok := r.integer(1)
	if n := len(a.p.InUse); !ok || n > 0 && a.p.InUse[n-1].At >= model.Time(t) || n >= maxUsageRows {
		return ok
	}
	bytes, known := r.integer(2)
	blocks, counted := r.integer(3)
	if !known {
		bytes = -1
	}
	if !counted {
		blocks = -1
	}
	free, told := r.integer(4)
	if !told {
		free = -1
	}
	a.p.InUse = append(a.p.InUse, model.InUse{At: model.Time(t), Bytes: bytes, Blocks: blocks, Free: free})
	return true
}

func (a *agentRows) readPages(r row) bool {
	t, ok := r.integer(1)
	faults, counted := r.integer(2)
	resident, known := r.integer(3)
	if n := len(a.p.Pages); !ok || !counted || !known || n > 0 && a.p.Pages[n-1].At >= model.Time(t) || n >= maxUsageRows {
		return ok && counted && known
	}
	a.p.Pages = append(a.p.Pages, model.Pages{At: model.Time(t), Faults: faults, Resident: resident})
	return true
}

func (a *agentRows) readLoader(r row) bool {
	number, ok := r.integer(1)
	var d struct {
		Workers    int     `json:"workers"`
		BatchSize  *int    `json:"batch_size"`
		Prefetch   *int    `json:"prefetch"`
		Pin        bool    `json:"pin"`
		Persistent bool    `json:"persistent"`
		Dataset    string  `json:"dataset"`
		Iterable   bool    `json:"iterable"`
		Length     *int64  `json:"length"`
		File       *string `json:"file"`
		Line       *int32  `json:"line"`
	}
	if !ok || r.raw(2) == nil || json.Unmarshal(r.raw(2), &d) != nil || len(a.p.Loaders) >= 1<<20 {
		return false
	}
	l := model.Loader{ID: int32(clamp(number, 0, math.MaxInt32)), Workers: d.Workers, Pin: d.Pin, Persistent: d.Persistent,
		Dataset: d.Dataset, Iterable: d.Iterable, Length: -1}
	if d.BatchSize != nil {
		l.BatchSize = *d.BatchSize
	}
	if d.Prefetch != nil {
		l.Prefetch = *d.Prefetch
	}
	if d.Length != nil {
		l.Length = *d.Length
	}
	if d.File != nil {
		l.File = a.texts.Intern(*d.File)
	}
	if d.Line != nil {
		l.Line = *d.Line
	}
	a.loaders[number] = int32(len(a.p.Loaders))
	a.p.Loaders = append(a.p.Loaders, l)
	return true
}

var spanKinds = map[string]model.SpanKind{"gc": model.SpanGC, "compile": model.SpanCompile, "import": model.SpanImport, "io": model.SpanIO,
	"region": model.SpanRegion, "action": model.SpanAction, "optimizer": model.SpanOptimizer, "profiler": model.SpanProfiler,
	"other": model.SpanOther}

func (a *agentRows) readSpan(r row) bool {
	start, end, ok := r.times(2)
	kind, known := spanKinds[r.text(1)]
	if !known {
		kind = model.SpanOther
	}
	if !ok {
		return false
	}
	span := model.Span{Kind: kind, Start: start, End: end, Thread: int(r.number(4)), Name: a.texts.Intern(r.text(5)),
		File: a.texts.Intern(r.text(6)), Line: int32(clamp(r.number(7), 0, math.MaxInt32)), Detail: a.texts.Intern(r.text(8)),
		Value: r.number(9), Loader: -1}
	if kind == model.SpanImport {
		a.p.Imports = append(a.p.Imports, span)
	} else {
		a.spans.add(span)
	}
	return true
}

func (a *agentRows) readWindow(r row) bool {
	start, end, ok := r.times(3)
	phase, known := phases[r.text(2)]
	if !ok || !known {
		return false
	}
	first, hasFirst := r.integer(6)
	last, hasLast := r.integer(7)
	if !hasFirst || !hasLast {
		first, last = -1, -1
	}
	a.p.Windows = append(a.p.Windows, model.Window{Number: int(clamp(r.number(1), 0, math.MaxInt32)), Phase: phase, Start: start, End: end,
		StopDone: model.Time(max(r.number(5), int64(end))), FirstStep: first, EndStep: last, Events: r.number(8),
		File: r.text(9), Error: r.text(10)})
	return true
}

// readStack reads [[function, file, first line, line], …], innermost first.
func (a *agentRows) readStack(r row) bool {
	number, ok := r.integer(1)
	var frames []row
	if !ok || r.raw(2) == nil || json.Unmarshal(r.raw(2), &frames) != nil {
		return false
	}
	stack := model.NoStack
	for i := min(len(frames), maxStackFrames) - 1; i >= 0; i-- {
		f := model.Frame{Function: a.texts.Intern(frames[i].text(0)), File: a.texts.Intern(frames[i].text(1)),
			First: int32(clamp(frames[i].number(2), 0, math.MaxInt32)), Line: int32(clamp(frames[i].number(3), 0, math.MaxInt32))}
		stack = a.push(f, stack)
	}
	a.stacks[number] = stack
	return true
}

// push gives the stack that has frame f on top of parent.
func (a *agentRows) push(f model.Frame, parent model.StackID) model.StackID {
	s := &a.p.Samples.Stacks
	frame, known := a.frames[f]
	if !known {
		frame = model.FrameID(len(s.Frames))
		a.frames[f] = frame
		s.Frames = append(s.Frames, f)
	}
	key := stackKey{frame, parent}
	stack, known := a.tree[key]
	if !known {
		stack = model.StackID(len(s.Frame))
		a.tree[key] = stack
		s.Frame, s.Parent = append(s.Frame, frame), append(s.Parent, parent)
	}
	return stack
}

func (a *agentRows) readSample(r row) bool {
	t, ok := r.integer(1)
	number, ok2 := r.integer(3)
	stack, known := a.stacks[number]
	if !ok || !ok2 || !known {
		return false
	}
	s := &a.p.Samples
	s.Time = append(s.Time, model.Time(t))
	s.Thread = append(s.Thread, int32(r.number(2)))
	s.Stack = append(s.Stack, stack)
	s.State = append(s.State, model.StateUnknown)
	s.Flags = append(s.Flags, model.SampleInProcess)
	return true
}

func (a *agentRows) readNote(r row) bool {
	t, ok := r.integer(1)
	if ok {
		a.p.Notes = append(a.p.Notes, model.Note{Time: model.Time(t), Code: r.text(2), Text: r.text(3)})
	}
	return ok
}

func (a *agentRows) readCount(r row) bool {
	var value float64
	if r.raw(2) == nil || json.Unmarshal(r.raw(2), &value) != nil || len(a.p.Counters) > 1<<16 {
		return false
	}
	a.p.Counters[r.text(1)] = value
	return true
}

// finish converts all times to Unix time and puts rows in the order that the model promises.
func (a *agentRows) finish(facts *processFacts) {
	p := a.p
	if len(a.clock.mono) == 0 {
		a.clock.add(facts.StartMono, facts.StartUnix)
	}
	p.Steps, p.Spans, p.Queues = a.steps.flat(), a.spans.flat(), a.queues.flat()
	for i := range p.Steps {
		p.Steps[i].Start, p.Steps[i].End = a.unix(p.Steps[i].Start), a.unix(p.Steps[i].End)
	}
	for _, spans := range [][]model.Span{p.Spans, p.Imports} {
		for i := range spans {
			spans[i].Start, spans[i].End = a.unix(spans[i].Start), a.unix(spans[i].End)
		}
		slices.SortStableFunc(spans, earlierSpan)
	}
	for i := range p.Windows {
		w := &p.Windows[i]
		w.Start, w.End, w.StopDone = a.unix(w.Start), a.unix(w.End), a.unix(w.StopDone)
	}
	for i := range p.Queues {
		p.Queues[i].Time = a.unix(p.Queues[i].Time)
	}
	for i := range p.Padding {
		p.Padding[i].Time = a.unix(p.Padding[i].Time)
	}
	for _, q := range [][]model.Asked{p.Asked, p.Parts} {
		for i := range q {
			q[i].Time = a.unix(q[i].Time)
			if q[i].End > 0 {
				q[i].End = a.unix(q[i].End)
			}
		}
		slices.SortStableFunc(q, func(x, y model.Asked) int { return cmp.Compare(x.Time, y.Time) })
	}
	for i := range p.Updates {
		p.Updates[i].Time = a.unix(p.Updates[i].Time)
	}
	for i := range p.Unused {
		p.Unused[i].Time = a.unix(p.Unused[i].Time)
	}
	for i := range p.Denormals {
		p.Denormals[i].Time = a.unix(p.Denormals[i].Time)
	}
	for i := range p.Jacobians {
		j := &p.Jacobians[i]
		j.Start, j.Backward, j.End = a.unix(j.Start), a.unix(j.Backward), a.unix(j.End)
	}
	for i := range p.Saved {
		p.Saved[i].Start, p.Saved[i].End = a.unix(p.Saved[i].Start), a.unix(p.Saved[i].End)
	}
	for i := range p.InUse {
		p.InUse[i].At = a.unix(p.InUse[i].At)
	}
	for i := range p.Pages {
		p.Pages[i].At = a.unix(p.Pages[i].At)
	}
	for i := range p.Notes {
		p.Notes[i].Time = a.unix(p.Notes[i].Time)
	}
	for i := range p.Samples.Time {
		p.Samples.Time[i] = a.unix(p.Samples.Time[i])
	}
	a.orderSteps()
	a.orderSamples()
}

func (a *agentRows) unix(t model.Time) model.Time { return a.clock.at(int64(t)) }
