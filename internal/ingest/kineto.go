package ingest

import (
	"context"
	"fmt"
	"io"
	"strings"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// Skip names columns that nobody asked for.
type Skip uint8

// Columns that can be left out.
const (
	SkipShapes    Skip = 1 << iota // Input Dims, Input Strides, Input type, Concrete Inputs
	SkipMemory                     // [memory] events
	SkipPython                     // ids of Python calls; the calls themselves stay
	SkipCounters                   // counter rows
	SkipOpDetails                  // every argument of operators
)

// TraceOptions say how one trace is read.
type TraceOptions struct {
	Skip Skip
}

// ReadTrace reads one Kineto or Chrome trace, plain or compressed, adds it and its Input to s and returns it. What is
// damaged is left out and counted in the Input's diagnostics; the error is for text that is no trace at all
// (*UnusableError) and for a reader that fails.
func ReadTrace(ctx context.Context, r io.Reader, name string, s *model.Session) (*model.Trace, error) {
	plain, err := unpack(r)
	if err != nil {
		return nil, &UnusableError{Path: name, Reason: err.Error()}
	}
	defer plain.Close()
	b := newBuilder(kineto.NewScanner(&cancelled{ctx, plain}), TraceOptions{})
	if err := b.read(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return b.store(s, name), nil
}

// cancelled stops reading when the context ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func newBuilder(scan *kineto.Scanner, opt TraceOptions) *builder {
	b := &builder{scan: scan, opt: opt, lanes: newLaneTable(), header: newHeader(), stage: newStage(),
		trace: &model.Trace{Process: -1, Window: -1}}
	scan.OnKey, scan.NoFlows = b.header.key, true
	return b
}

// read goes through the text and builds the columns; strings are still the scanner's.
func (b *builder) read(name string) error {
	b.runPieces()
	if err := b.scan.Err(); err != nil && b.total == 0 {
		return &UnusableError{Path: name, Reason: reasonFor(err), err: err}
	} else if err != nil {
		b.skipped["unreadable-end"] = &skip{1, b.scan.Offset()}
		b.readErr = err
	}
	if !b.scan.SawEvents {
		return &UnusableError{Path: name, Reason: "a JSON object without traceEvents: no trace"}
	}
	for _, stack := range b.open {
		for range stack {
			b.skipped.add("begin-without-end", -1)
		}
	}
	b.open = nil
	b.scan.Release() // an archive may hold thousands of traces, which are added to the session together
	b.finish()
	return nil
}

// finish puts in order and links what was read.
func (b *builder) finish() {
	b.trace.Events.OpArgs, b.trace.Events.DeviceArgs = b.opArgs.rows, b.deviceArgs.rows
	b.oneClock()
	b.settle(b.trace)
	b.order()
	b.shift()
	b.link()
	b.features()
}

func reasonFor(err error) string {
	if err == kineto.ErrNotTrace {
		return "neither a trace nor any other format that is known: " + err.Error()
	}
	return err.Error()
}

// shift puts times on the session clock and finds the extent.
func (b *builder) shift() {
	t := b.trace
	base := model.Time(b.header.base)
	ev := &t.Events
	for i := range ev.Start {
		ev.Start[i] += base
	}
	for i := range t.Memory.Time {
		t.Memory.Time[i] += base
	}
	for pass := 0; pass < 2 && t.To == 0; pass++ {
		for i := range ev.Start {
			if pass == 0 && b.lanes.list[ev.Lane[i]].key.kind == model.LaneOther {
				continue
			}
			if start := ev.Start[i]; t.From == 0 || start < t.From {
				t.From = start
			}
			t.To = max(t.To, ev.End(model.EventID(i)))
		}
	}
}

func (b *builder) features() {
	f := &b.trace.Features
	ev := &b.trace.Events
	h := &b.header
	f.Shapes, f.Memory, f.PythonStacks, f.Flops = h.shapes, h.memory, h.stacks, h.flops
	for _, kind := range ev.Kind {
		f.Device = f.Device || kind.Device()
		f.Sync = f.Sync || kind == model.KindSync
		f.PythonStacks = f.PythonStacks || kind == model.KindPython
	}
	f.Memory = f.Memory || len(b.trace.Memory.Time) > 0
	for i := range ev.OpArgs {
		if ev.OpArgs[i].Shapes != 0 {
			f.Shapes = true
			break
		}
	}
}

// store carries the strings over into the session and adds the trace to it. It is the only part that touches s.
func (b *builder) store(s *model.Session, name string) *model.Trace {
	if s.Strings == nil {
		s.Strings = &model.Strings{}
	}
	t := b.trace
	texts := newTextMap(b.scan, s.Strings)
	ev := &t.Events
	for i, id := range ev.Name {
		ev.Name[i] = texts.name(kineto.Text(id))
	}
	for i := range ev.OpArgs {
		d := &ev.OpArgs[i]
		d.Shapes, d.Strides = texts.raw(kineto.Text(d.Shapes)), texts.raw(kineto.Text(d.Strides))
		d.Types, d.Concrete = texts.raw(kineto.Text(d.Types)), texts.raw(kineto.Text(d.Concrete))
		d.Stack, d.Module = texts.name(kineto.Text(d.Stack)), texts.name(kineto.Text(d.Module))
		d.Extra = texts.raw(kineto.Text(d.Extra))
	}
	for i := range ev.PythonDetails {
		ev.PythonDetails[i].From = texts.name(kineto.Text(ev.PythonDetails[i].From))
	}
	for i := range ev.DeviceArgs {
		d := &ev.DeviceArgs[i]
		d.Collective = texts.raw(kineto.Text(d.Collective))
	}
	for _, c := range b.counters.flat() {
		t.Counters = append(t.Counters, model.CounterEvent{Time: model.Time(c.ts + b.header.base), Name: texts.name(c.name),
			Key: texts.name(c.key), PID: texts.id(c.pid), Value: c.value})
	}
	for _, c := range b.ranges.flat() {
		t.Ranges = append(t.Ranges, model.RangeCounter{Range: int32(c.pid.Num), Start: model.Time(c.ts + b.header.base),
			Name: texts.name(c.name), Key: texts.name(c.key), Value: c.value})
	}
	t.Lanes = b.lanes.build(texts)
	for i := range t.Lanes {
		t.Lanes[i].FirstEvent = model.EventID(b.lanes.list[i].from)
		t.Lanes[i].EndEvent = model.EventID(b.lanes.list[i].from + b.lanes.list[i].events)
	}
	if b.viztracer() {
		t.Input = len(s.Inputs)
		calls := callsOf(t, s.Strings)
		calls.Input = t.Input
		s.Calls = append(s.Calls, calls)
		asKineto(t, s.Strings)
	}
	t.Header = b.header.model
	t.Rank, t.World = b.header.rankOf(name), b.header.world
	t.Steps = findSteps(t, s.Strings)
	b.header.environment(&s.Environment)
	t.Input = len(s.Inputs)
	s.Inputs = append(s.Inputs, b.input(name))
	s.Traces = append(s.Traces, t)
	return t
}

func (b *builder) input(name string) model.Input {
	in := model.Input{Path: name, Format: b.format(), Events: b.total, Rank: b.trace.Rank, World: b.trace.World, Counts: map[string]int64{},
		Diagnostics: b.diagnostics()}
	if b.otherClock != nil {
		in.Diagnostics = append(in.Diagnostics, *b.otherClock)
	}
	for cat, n := range b.counts {
		if n > 0 {
			in.Counts[strings.ToValidUTF8(b.scan.Names.String(kineto.Text(cat)), "\uFFFD")] += n
		}
	}
	if b.readErr != nil {
		for i := range in.Diagnostics {
			if d := &in.Diagnostics[i]; d.Kind == "unreadable-end" {
				d.Text = fmt.Sprintf("the file stops being readable: %v", b.readErr)
			}
		}
	}
	return in
}

// format tells Kineto's files from other Chrome traces by their categories.
func (b *builder) format() string {
	if b.viztracer() {
		return "viztracer"
	}
	for cat := range b.cats {
		if b.cats[cat].kind != model.KindOther && b.counts[cat] > 0 {
			return "kineto"
		}
	}
	if b.scan.Array {
		for i := range b.lanes.list {
			if b.scan.Names.String(b.lanes.list[i].key.pid.Text) == "CPU functions" {
				return "autograd-profiler"
			}
		}
	}
	return "chrome"
}
