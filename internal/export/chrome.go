package export

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"bottleneck/internal/model"
)

// writeChrome writes the traces of a session as one Chrome trace in the form of today's Kineto: an object with the
// metadata of the first trace, then metadata rows, events and flows. Damaged inputs are whole again, because what is
// written comes from the model and not from their text. Several ranks keep apart by process numbers; their flow ids too.
func writeChrome(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	traces := tracesOf(s, opt)
	if len(traces) == 0 && !slices.ContainsFunc(s.Processes, func(p *model.Process) bool {
		return len(p.Steps)+len(p.Spans)+p.Samples.Len() > 0
	}) {
		return &UnavailableError{"chrome", "there is no trace in the input, and no step, wait or sample either"}
	}
	if len(traces) == 0 { // a run without tracing: its steps, waits and samples alone
		traces = []*model.Trace{{Process: -1, Window: -1, Rank: model.NoRank}}
	}
	return buffered(w, func(out *bufio.Writer) error {
		c := &chromeWriter{
			ctx: ctx, w: out, session: s, texts: s.Strings, raw: newRawTexts(s.Strings), base: traceBase(s, traces),
			traces: traces, merged: len(traces) > 1, numbers: map[processKey]int64{}, taken: map[int64]bool{},
			named: map[namedRow]bool{}, agents: map[int]bool{},
		}
		c.header(traces)
		for i, t := range traces {
			if err := c.trace(i, t); err != nil {
				return err
			}
		}
		c.untraced(opt.Rank)
		c.footer(traces)
		return c.err
	})
}

// chromeWriter writes one file.
type chromeWriter struct {
	ctx     context.Context
	w       *bufio.Writer
	session *model.Session
	texts   *model.Strings
	raw     *rawTexts
	base    model.Time
	traces  []*model.Trace
	merged  bool // several traces: process numbers may have to change
	numbers map[processKey]int64
	taken   map[int64]bool
	named   map[namedRow]bool
	agents  map[int]bool // processes whose steps and spans are written
	line    []byte
	any     bool // an event was written: the next one needs a comma
	err     error
}

// processKey is a process (or device) as one recorded process names it: source is the index of that process, or -1 less
// the index of the trace where the trace is all that is known.
type processKey struct {
	source int
	pid    model.Str
}

// traceBase is what times are counted from: the first trace's own base if nothing lies before it, so that its numbers
// stay; else the earliest start in whole seconds.
func traceBase(s *model.Session, traces []*model.Trace) model.Time {
	earliest := model.Time(math.MaxInt64)
	for _, t := range traces {
		earliest = min(earliest, firstTime(t))
	}
	for _, p := range s.Processes {
		for i := range p.Steps {
			earliest = min(earliest, p.Steps[i].Start)
		}
		for i := range p.Spans {
			earliest = min(earliest, p.Spans[i].Start)
		}
		if p.Samples.Len() > 0 {
			earliest = min(earliest, p.Samples.Time[0])
		}
	}
	if text, ok := traces[0].Header.Metadata["baseTimeNanoseconds"]; ok {
		if base, err := strconv.ParseInt(text, 10, 64); err == nil && model.Time(base) <= earliest {
			return model.Time(base)
		}
	}
	if earliest == math.MaxInt64 || earliest < 0 {
		return 0
	}
	return earliest - earliest%1e9
}

func firstTime(t *model.Trace) model.Time {
	first := model.Time(math.MaxInt64)
	for i := range t.Lanes { // events of a lane are sorted
		if l := &t.Lanes[i]; l.FirstEvent < l.EndEvent {
			first = min(first, t.Events.Start[l.FirstEvent])
		}
	}
	if len(t.Memory.Time) > 0 {
		first = min(first, t.Memory.Time[0])
	}
	for i := range t.Counters {
		first = min(first, t.Counters[i].Time)
	}
	return first
}

// chromeOwnKeys are top-level keys that the writer decides itself.
var chromeOwnKeys = []string{"schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"}

func (c *chromeWriter) header(traces []*model.Trace) {
	h := &traces[0].Header
	b := append(c.line[:0], "{\n\"schemaVersion\": 1"...)
	keys := make([]string, 0, len(h.Metadata))
	for k := range h.Metadata {
		if !slices.Contains(chromeOwnKeys, k) && (!c.merged || k != "distributedInfo") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = append(b, ",\n"...)
		b = append(appendString(b, k), ": "...)
		if value := h.Metadata[k]; json.Valid([]byte(value)) {
			b = append(b, value...)
		} else {
			b = appendString(b, value)
		}
	}
	if _, kept := h.Metadata["deviceProperties"]; !kept && len(h.Devices) > 0 {
		b = append(b, ",\n\"deviceProperties\": "...)
		b = appendDevices(b, h.Devices)
	}
	if _, kept := h.Metadata["distributedInfo"]; !kept && !c.merged && traces[0].Rank != model.NoRank {
		b = append(b, ",\n\"distributedInfo\": "...)
		b = appendDistributed(b, traces[0])
	}
	if _, kept := h.Metadata["host_name"]; !kept && h.Host != "" {
		b = append(append(b, ",\n\"host_name\": "...), appendString(nil, h.Host)...)
	}
	b = append(b, ",\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": "...)
	b = strconv.AppendInt(b, int64(c.base), 10)
	b = append(b, ",\n\"traceEvents\": ["...)
	c.write(b)
}

func appendDevices(b []byte, devices []model.GPU) []byte {
	b = append(b, '[')
	for _, d := range devices {
		b = append(separate(b), '{')
		b = appendInt(b, "id", int64(d.Index))
		b = appendText(b, "name", d.Name)
		b = appendInt(b, "totalGlobalMem", d.MemoryBytes)
		b = appendInt(b, "computeMajor", int64(d.ComputeMajor))
		b = appendInt(b, "computeMinor", int64(d.ComputeMinor))
		b = append(appendInt(b, "numSms", int64(d.SMs)), '}')
	}
	return append(b, ']')
}

func appendDistributed(b []byte, t *model.Trace) []byte {
	b = append(b, '{')
	b = appendText(b, "backend", t.Header.Backend)
	b = appendInt(b, "rank", int64(t.Rank))
	b = appendInt(b, "world_size", int64(t.World))
	b = appendInt(b, "pg_count", int64(len(t.Header.Groups)))
	b = append(appendKey(b, "pg_config"), '[')
	for _, g := range t.Header.Groups {
		b = append(separate(b), '{')
		b = appendText(b, "pg_name", g.Name)
		b = appendText(b, "pg_desc", g.Description)
		b = append(appendKey(b, "ranks"), '[')
		for _, r := range g.Ranks {
			b = strconv.AppendInt(separate(b), int64(r), 10)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

// footer ends the list with Kineto's last row. Its key traceName comes last, as Kineto has it.
func (c *chromeWriter) footer(traces []*model.Trace) {
	end := traces[0].To
	for _, t := range traces {
		end = max(end, t.To)
	}
	b := c.begin("i")
	b = append(b, `, "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": `...)
	b = append(appendMicros(b, int64(max(end-c.base, 0))), '}')
	c.event(b)
	b = append(c.line[:0], "\n],\n\"traceName\": "...)
	b = append(appendString(b, traces[0].Header.TraceName), "\n}\n"...)
	c.write(b)
}

// begin starts an event row.
func (c *chromeWriter) begin(phase string) []byte {
	b := c.line[:0]
	if c.any {
		b = append(b, ',')
	}
	b = append(b, "\n{\"ph\": \""...)
	return append(append(b, phase...), '"')
}

// event writes a finished row.
func (c *chromeWriter) event(b []byte) {
	c.any = true
	c.write(b)
}

func (c *chromeWriter) write(b []byte) {
	c.line = b
	if _, err := c.w.Write(b); err != nil && c.err == nil {
		c.err = err
	}
}

// appendRow appends the process and the thread of a lane.
func (c *chromeWriter) appendRow(b []byte, trace int, l *model.Lane) []byte {
	b = append(b, `, "pid": `...)
	b = c.appendPID(b, trace, l.PID, l.Kind == model.LaneThread)
	b = append(b, `, "tid": `...)
	return appendID(b, c.texts.Text(l.TID))
}

// appendPID appends a process number: the file's own, unless several traces are merged and another process has it.
func (c *chromeWriter) appendPID(b []byte, trace int, pid model.Str, keep bool) []byte {
	text := c.texts.Text(pid)
	number, err := strconv.ParseInt(text, 10, 64)
	if !c.merged || err != nil {
		return appendID(b, text)
	}
	key := c.processKey(trace, pid)
	n, ok := c.numbers[key]
	if !ok {
		n = number
		if !keep || c.taken[n] {
			for n = int64(trace+1)*1_000_000 + int64(len(c.numbers)); c.taken[n]; n++ {
			}
		}
		c.numbers[key] = n
		c.taken[n] = true
	}
	return strconv.AppendInt(b, n, 10)
}

// processKey says which process a trace means: windows of one process stay together.
func (c *chromeWriter) processKey(trace int, pid model.Str) processKey {
	if p := c.traces[trace].Process; p >= 0 {
		return processKey{p, pid}
	}
	return processKey{-1 - trace, pid}
}

// appendID appends a process or thread as it was written: a number where it is one.
func appendID(b []byte, text string) []byte {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return append(b, text...)
	}
	return appendString(b, text)
}
