package export

import (
	"strconv"

	"bottleneck/internal/model"
)

// trace writes all rows of one trace: names first, then lane by lane.
func (c *chromeWriter) trace(n int, t *model.Trace) error {
	c.names(n, t)
	flows := newFlows(n, t)
	for i := range t.Lanes {
		l := &t.Lanes[i]
		for id := l.FirstEvent; id < l.EndEvent; id++ {
			c.complete(n, t, l, id)
			flows.write(c, t, id)
			if id%4096 == 0 && (c.err != nil || c.ctx.Err() != nil) {
				return c.stopped()
			}
		}
	}
	c.memory(n, t)
	c.counters(n, t)
	if t.Process >= 0 && t.Process < len(c.session.Processes) {
		c.agentRows(t, c.session.Processes[t.Process])
	}
	return c.stopped()
}

func (c *chromeWriter) stopped() error {
	if c.err != nil {
		return c.err
	}
	return c.ctx.Err()
}

// names writes the metadata rows that name and order processes and threads.
func (c *chromeWriter) names(n int, t *model.Trace) {
	type process struct {
		pid    model.Str
		device bool
	}
	seen := map[process]bool{}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		p := process{l.PID, l.Kind == model.LaneStream}
		if !seen[p] {
			seen[p] = true
			c.processNames(n, t, l)
		}
		if name := c.texts.Text(l.Name); name != "" {
			c.metadata(n, l, "thread_name", "name", name)
		}
	}
}

func (c *chromeWriter) processNames(n int, t *model.Trace, l *model.Lane) {
	label := "CPU"
	order := int64(0)
	switch l.Kind {
	case model.LaneStream:
		label = "GPU " + strconv.Itoa(int(l.Device))
		order = 5_000_000 + int64(l.Device)
	case model.LaneOther:
		return
	}
	name := "python"
	if t.Rank != model.NoRank {
		name = "rank " + strconv.Itoa(t.Rank)
		order += int64(t.Rank) * 10_000_000
	}
	c.metadata(n, l, "process_name", "name", name)
	c.metadata(n, l, "process_labels", "labels", label)
	b := c.begin("M")
	b = appendText(b, "name", "process_sort_index")
	b = c.appendRow(b, n, l)
	b = append(b, `, "args": {"sort_index": `...)
	c.event(append(strconv.AppendInt(b, order, 10), "}}"...))
}

func (c *chromeWriter) metadata(n int, l *model.Lane, row, key, value string) {
	b := c.begin("M")
	b = appendText(b, "name", row)
	b = c.appendRow(b, n, l)
	b = append(b, `, "args": {`...)
	c.event(append(appendText(b, key, value), "}}"...))
}

// complete writes one complete event ("X").
func (c *chromeWriter) complete(n int, t *model.Trace, l *model.Lane, id model.EventID) {
	e := &t.Events
	name := c.texts.Text(e.Name[id])
	b := c.begin("X")
	b = append(b, `, "cat": "`...)
	b = append(b, category(e.Kind[id], name, l, c.texts)...)
	b = append(b, `", "name": `...)
	b = appendString(b, name)
	b = c.appendRow(b, n, l)
	b = append(b, `, "ts": `...)
	b = appendMicros(b, int64(e.Start[id]-c.base))
	b = append(b, `, "dur": `...)
	b = appendMicros(b, int64(e.Dur[id]))
	b = append(b, `, "args": {`...)
	c.event(append(c.appendArgs(b, e, id), "}}"...))
}

// memory writes allocations and frees as torch's instant events.
func (c *chromeWriter) memory(n int, t *model.Trace) {
	m := &t.Memory
	for i := range m.Time {
		b := c.begin("i")
		b = append(b, `, "cat": "cpu_instant_event", "s": "t", "name": "[memory]"`...)
		if lane := m.Lane[i]; lane >= 0 && int(lane) < len(t.Lanes) {
			b = c.appendRow(b, n, &t.Lanes[lane])
		}
		b = append(b, `, "ts": `...)
		b = appendMicros(b, int64(m.Time[i]-c.base))
		b = append(b, `, "args": {`...)
		b = appendInt(b, "Device Type", int64(m.DeviceType[i]))
		b = appendInt(b, "Device Id", int64(m.DeviceIndex[i]))
		b = strconv.AppendUint(appendKey(b, "Addr"), m.Addr[i], 10)
		b = appendInt(b, "Bytes", m.Bytes[i])
		b = appendInt(b, "Total Allocated", m.Allocated[i])
		b = appendInt(b, "Total Reserved", m.Reserved[i])
		c.event(append(b, "}}"...))
	}
}

func (c *chromeWriter) counters(n int, t *model.Trace) {
	for i := range t.Counters {
		k := &t.Counters[i]
		b := c.begin("C")
		b = appendText(b, "name", c.texts.Text(k.Name))
		b = append(b, `, "pid": `...)
		b = c.appendPID(b, n, k.PID, true)
		b = append(b, `, "ts": `...)
		b = appendMicros(b, int64(k.Time-c.base))
		b = append(b, `, "args": {`...)
		c.event(append(appendFloat(appendKey(b, c.texts.Text(k.Key)), k.Value, 64), "}}"...))
	}
}

// Threads of a session's own rows, beside the program's: numbers that no system gives to a thread.
const (
	stepsThread = 2_000_000_001
	spansThread = 2_000_000_002
)

// agentRows writes the steps and spans that the agent saw during the trace, on rows of their own.
func (c *chromeWriter) agentRows(t *model.Trace, p *model.Process) {
	row := func(thread int64, name string, from, to model.Time) {
		if to < t.From || from > t.To {
			return
		}
		b := c.begin("X")
		b = append(b, `, "cat": "bottleneck"`...)
		b = appendText(b, "name", name)
		b = appendInt(b, "pid", int64(p.PID))
		b = appendInt(b, "tid", thread)
		b = append(b, `, "ts": `...)
		b = appendMicros(b, int64(max(from, t.From)-c.base))
		b = append(b, `, "dur": `...)
		b = appendMicros(b, int64(max(min(to, t.To)-max(from, t.From), 0)))
		c.event(append(b, `, "args": {}}`...))
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		row(stepsThread, "step "+strconv.FormatInt(s.Number, 10)+" ("+c.texts.Text(s.Kind)+", "+s.Phase.String()+")", s.Start, s.End)
	}
	for i := range p.Spans {
		s := &p.Spans[i]
		row(spansThread+int64(s.Kind), spanNames[min(int(s.Kind), len(spanNames)-1)]+": "+c.texts.Text(s.Name), s.Start, s.End)
	}
}

// spanNames are the kinds of spans in words, by number.
var spanNames = [...]string{
	model.SpanDataWait: "data wait", model.SpanFetch: "fetch", model.SpanGC: "gc", model.SpanCompile: "compile", model.SpanImport: "import",
	model.SpanIO: "io", model.SpanRegion: "region", model.SpanAction: "action", model.SpanOptimizer: "optimizer",
	model.SpanProfiler: "profiler", model.SpanOther: "other",
}
