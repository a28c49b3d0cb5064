package export

import (
	"strconv"

	"bottleneck/internal/model"
)

// trace writes all rows of one trace: names first, then lane by lane.
func (c *chromeWriter) trace(n int, t *model.Trace) error {
	c.names(n, t)
	flows := newFlows(n, t, c.session.Strings)
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
	if p := t.Process; p >= 0 && p < len(c.session.Processes) && !c.agents[p] {
		c.agents[p] = true
		c.agentRows(c.session.Processes[p], c.processNumber(n, t, c.session.Processes[p]))
	}
	return c.stopped()
}

func (c *chromeWriter) stopped() error {
	if c.err != nil {
		return c.err
	}
	return c.ctx.Err()
}

// namedRow is a process or a thread that has its metadata rows; of a process, tid is 0 and device says which.
type namedRow struct {
	key    processKey
	tid    model.Str
	device bool
}

// names writes the metadata rows that name and order processes and threads, once for all windows of a process.
func (c *chromeWriter) names(n int, t *model.Trace) {
	first := func(row namedRow) bool {
		seen := c.named[row]
		c.named[row] = true
		return !seen
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		key, device := c.processKey(n, l.PID), l.Kind == model.LaneStream
		if first(namedRow{key: key, device: device}) {
			c.processNames(n, t, l)
		}
		if name := c.texts.Text(l.Name); name != "" && first(namedRow{key, l.TID, device}) {
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
	b = c.appendArgs(b, e, id)
	if module := t.Modules.At(id); module != nil && e.Kind[id] == model.KindOp && e.OpArgsOf(e.Detail[id]).Module == 0 {
		b = appendText(b, "Module Hierarchy", c.texts.Text(module.Path)+" ("+c.texts.Text(module.Class)+")")
	}
	c.event(append(b, "}}"...))
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

// agentRows writes what was seen of the whole run of a process, steps, spans and samples, on rows of their own.
func (c *chromeWriter) agentRows(p *model.Process, number []byte) {
	thread := func(id int64, name string) []byte {
		row := append([]byte(`, "pid": `), number...)
		row = strconv.AppendInt(append(row, `, "tid": `...), id, 10)
		b := append(c.begin("M"), `, "name": "thread_name"`...)
		b = append(append(b, row...), `, "args": {`...)
		c.event(append(appendText(b, "name", "bottleneck: "+name), "}}"...))
		return row
	}
	write := func(row []byte, name string, from, to model.Time) {
		from = max(from, c.base)
		b := append(c.begin("X"), `, "cat": "bottleneck"`...)
		b = append(appendText(b, "name", name), row...)
		b = append(b, `, "ts": `...)
		b = appendMicros(b, int64(from-c.base))
		b = append(b, `, "dur": `...)
		b = appendMicros(b, int64(max(to-from, 0)))
		c.event(append(b, `, "args": {}}`...))
	}
	var steps []byte
	for i := range p.Steps {
		if steps == nil {
			steps = thread(stepsThread, "steps")
		}
		s := &p.Steps[i]
		write(steps, "step "+strconv.FormatInt(s.Number, 10)+" ("+c.texts.Text(s.Kind)+", "+s.Phase.String()+")", s.Start, s.End)
	}
	var rows [len(spanNames)][]byte
	for i := range p.Spans {
		s := &p.Spans[i]
		kind := min(int(s.Kind), len(spanNames)-1)
		if rows[kind] == nil {
			rows[kind] = thread(spansThread+int64(kind), spanNames[kind])
		}
		write(rows[kind], spanNames[kind]+": "+c.texts.Text(s.Name), s.Start, s.End)
	}
	c.sampleRows(p, number)
}

// untraced writes the rows of processes that have no trace, such as DataLoader workers.
func (c *chromeWriter) untraced(rank int) {
	for i, p := range c.session.Processes {
		if c.agents[i] || len(p.Steps)+len(p.Spans)+p.Samples.Len() == 0 || rank != model.NoRank && p.Rank != rank {
			continue
		}
		number := int64(p.PID)
		for c.taken[number] {
			number += 1_000_000
		}
		c.taken[number] = true
		text := strconv.AppendInt(nil, number, 10)
		name := string(p.Role)
		if p.Role == model.RoleWorker && p.WorkerIndex >= 0 {
			name += " " + strconv.Itoa(p.WorkerIndex)
		}
		b := append(c.begin("M"), `, "name": "process_name", "pid": `...)
		b = append(append(b, text...), `, "tid": 0, "args": {`...)
		c.event(append(appendText(b, "name", name), "}}"...))
		c.agentRows(p, text)
	}
}

// processNumber is the number under which the process's own threads stand in the output.
func (c *chromeWriter) processNumber(n int, t *model.Trace, p *model.Process) []byte {
	number := strconv.Itoa(p.PID)
	for i := range t.Lanes {
		if l := &t.Lanes[i]; l.Kind == model.LaneThread && c.texts.Text(l.PID) == number {
			return c.appendPID(nil, n, l.PID, true)
		}
	}
	return []byte(number)
}

// spanNames are the kinds of spans in words, by number.
var spanNames = [...]string{
	model.SpanDataWait: "data wait", model.SpanFetch: "fetch", model.SpanGC: "gc", model.SpanCompile: "compile", model.SpanImport: "import",
	model.SpanIO: "io", model.SpanRegion: "region", model.SpanAction: "action", model.SpanOptimizer: "optimizer",
	model.SpanProfiler: "profiler", model.SpanOther: "other",
}
