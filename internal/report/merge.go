package report

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// Merge makes the report of more ranks than fit into memory: each trace is reduced to rows and to its collectives, and the
// rows are merged. What it gives differs from Build where all traces are needed at once: the critical path is of the first
// rank alone, prices are bounds that no replay has narrowed, and a kernel's launcher is that of the rank that spent most
// time in it.
type Merge struct {
	opt     Options
	texts   map[string]string // of all rows: a row must not keep its trace's strings alive
	ops     map[opKey]int
	opRows  []keyaverages.Row
	kernels map[string]int
	byName  []device.Kernel
	longest []model.Dur // by row of byName: the most that one rank spent in it
	traces  []*model.Trace
	gpus    [][]device.GPU
	parts   []traced.TracePart
	cpu     [][]account.StepParts
	calls   []*collectives.Calls
	counts  stepCounts
	r       *Report // tables by rank

	mu   sync.Mutex
	path int // number of the first trace with device work so far; its critical path is kept
}

// opKey is what operators of several ranks are added up by.
type opKey struct {
	name, shapes, stack, module string
	device                      keyaverages.DeviceKind
	annotation                  bool
}

// rankParts are what one trace is reduced to.
type rankParts struct {
	number  int
	trace   *model.Trace // without events
	ops     []keyaverages.Row
	kernels []device.Kernel
	gpus    []device.GPU
	part    traced.TracePart
	cpu     []account.StepParts
	calls   *collectives.Calls
	counts  stepCounts
	r       *Report
}

// NewMerge begins a report.
func NewMerge(opt Options) *Merge {
	return &Merge{opt: opt, texts: map[string]string{}, ops: map[opKey]int{}, kernels: map[string]int{}, r: EmptyReport(), path: -1}
}

// Add reduces the only trace of a session, whose input has that number. It may be called from several goroutines; what it
// returns must be called by one at a time, in an order that does not depend on timing.
func (m *Merge) Add(number int, s *model.Session, t *model.Trace) (fold func()) {
	one := &model.Session{Strings: s.Strings, Traces: []*model.Trace{t}}
	b := newBuilder(one, m.opt)
	b.points = maxMergedPoints
	p := &rankParts{number: number, r: b.R, gpus: []device.GPU{}}
	list := []table{
		{"gpu", func() { p.gpus = b.gpus()[0] }, nil},
		{"key averages", func() { p.ops = b.operators(one.Traces) }, []string{"operators"}},
		{"kernels", func() { p.kernels = b.kernels() }, nil},
		{"findings", func() { p.part = b.traceParts()[0] }, nil},
		{"communication", func() { p.calls = collectives.CallsOf(t, s.Strings) }, nil},
		{"counts", func() { p.counts.add(one, t) }, []string{SectionCounts}},
	}
	list = append(list, b.ownTables(one.Traces)...)
	if t.Features.Device && m.first(number) {
		list = append(list, table{"critical path", func() { b.criticalPath(one.Traces) }, []string{"critical-path"}})
	}
	for _, part := range list {
		if b.wanted(part.sections) {
			b.guard(part.name, part.make)
		}
	}
	if r := p.part.Roofline; r != nil {
		short := *r
		short.Ops = slices.Clone(r.Ops[:min(len(r.Ops), maxMergedOps)])
		if r.Peaks != nil {
			peaks := *r.Peaks // the table that it points into is everybody's
			short.Peaks = &peaks
		}
		p.part.Roofline = &short
	}
	if len(p.gpus) == 0 {
		b.guard("step parts", func() { p.cpu = account.StepPartsOf(t, s.Strings) })
	}
	if p.calls == nil {
		p.calls = collectives.CallsOf(&model.Trace{Rank: t.Rank}, s.Strings)
	}
	p.trace = &model.Trace{Rank: t.Rank, World: t.World, From: t.From, To: t.To, Process: -1, Window: -1, Steps: t.Steps,
		Features: t.Features}
	p.trace.Header.Host = t.Header.Host
	return func() { m.fold(p) }
}

// Bounds of each rank's memory timeline and of the operators that findings about all ranks look at.
const (
	maxMergedPoints = 100
	maxMergedOps    = 64
)

// first says whether no earlier trace with device work has been seen yet.
func (m *Merge) first(number int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.path >= 0 && m.path <= number {
		return false
	}
	m.path = number
	return true
}

// fold adds one trace's parts.
func (m *Merge) fold(p *rankParts) {
	for _, rows := range []any{p.ops, p.kernels, p.gpus, &p.part, p.r, p.trace} {
		keepTexts(rows, m.keep)
	}
	p.calls.Keep(m.keep)
	m.counts.merge(&p.counts, m.keep)
	m.traces, m.gpus, m.parts = append(m.traces, p.trace), append(m.gpus, p.gpus), append(m.parts, p.part)
	m.cpu, m.calls = append(m.cpu, p.cpu), append(m.calls, p.calls)
	m.addOperators(p.ops)
	m.addKernels(p.kernels)
	r, from := m.r, p.r
	if len(r.CriticalPath) == 0 {
		r.CriticalPath = from.CriticalPath
	}
	r.Unread = limited(r.Unread, from.Unread)
	r.Tables = mergeTables(r.Tables, from.Tables)
	r.Memory, r.Roofline = limited(r.Memory, from.Memory), limited(r.Roofline, from.Roofline)
	r.Copies, r.Bandwidth = limited(r.Copies, from.Copies), limited(r.Bandwidth, from.Bandwidth)
	r.Streams, r.Sequences, r.StepParts = limited(r.Streams, from.Streams), limited(r.Sequences, from.Sequences),
		limited(r.StepParts, from.StepParts)
}

// limited appends rows up to the bound of a table.
func limited[T any](rows, more []T) []T {
	return append(rows, more[:min(len(more), max(maxOpRows-len(rows), 0))]...)
}

func (m *Merge) addOperators(rows []keyaverages.Row) {
	for i := range rows {
		row := &rows[i]
		key := opKey{row.Name, row.InputShapes, strings.Join(row.Stack, "; "), row.Module, row.DeviceType, row.IsUserAnnotation}
		at, known := m.ops[key]
		if !known {
			m.ops[key] = len(m.opRows)
			row.First = model.NoEvent
			m.opRows = append(m.opRows, *row)
			continue
		}
		sum := &m.opRows[at]
		sum.Count += row.Count
		sum.SelfCPU, sum.CPU, sum.SelfDevice, sum.Device = sum.SelfCPU+row.SelfCPU, sum.CPU+row.CPU, sum.SelfDevice+row.SelfDevice,
			sum.Device+row.Device
		sum.SelfCPUBytes, sum.CPUBytes = sum.SelfCPUBytes+row.SelfCPUBytes, sum.CPUBytes+row.CPUBytes
		sum.SelfDeviceBytes, sum.DeviceBytes = sum.SelfDeviceBytes+row.SelfDeviceBytes, sum.DeviceBytes+row.DeviceBytes
		sum.Flops += row.Flops
	}
}

// addKernels adds up kernels by name; the launcher is that of the rank that spent most time in the kernel.
func (m *Merge) addKernels(rows []device.Kernel) {
	for i := range rows {
		row := &rows[i]
		at, known := m.kernels[row.Name]
		if !known {
			m.kernels[row.Name] = len(m.byName)
			m.byName, m.longest = append(m.byName, *row), append(m.longest, row.Dur)
			continue
		}
		sum := &m.byName[at]
		sum.Count += row.Count
		sum.Dur += row.Dur
		sum.Min, sum.Max = min(sum.Min, row.Min), max(sum.Max, row.Max)
		if sum.Device != row.Device {
			sum.Device, sum.Stream = -1, -1
		}
		if sum.Stream != row.Stream {
			sum.Stream = -1
		}
		if row.Dur > m.longest[at] {
			m.longest[at], sum.Launcher, sum.Where = row.Dur, row.Launcher, row.Where
		}
	}
}

// keep returns a copy of text that belongs to the report.
func (m *Merge) keep(text string) string {
	if text == "" {
		return ""
	}
	if kept, ok := m.texts[text]; ok {
		return kept
	}
	kept := string([]byte(text))
	m.texts[kept] = kept
	return kept
}

// Report is the report of all traces that were added; s is the session that they came from, without them.
func (m *Merge) Report(s *model.Session) *Report {
	s.Traces = m.traces
	return build(s, m.opt, m)
}

func (m *Merge) kernelsByTime() []device.Kernel {
	rows := slices.Clone(m.byName)
	slices.SortFunc(rows, func(a, b device.Kernel) int {
		return cmp.Or(cmp.Compare(b.Dur, a.Dur), strings.Compare(a.Name, b.Name))
	})
	return rows
}

// mergedTables takes over the rows that were made trace by trace, in the order in which Build would have put them.
func (b *Builder) mergedTables() {
	from, r := b.merged.r, b.R
	r.Memory, r.Roofline, r.Bandwidth, r.Streams, r.StepParts = from.Memory, from.Roofline, from.Bandwidth, from.Streams, from.StepParts
	r.Tables = from.Tables
	r.Copies, r.Sequences, r.CriticalPath = from.Copies, from.Sequences, from.CriticalPath
	slices.SortStableFunc(r.Copies, func(x, y CopyRow) int { return cmp.Compare(y.Us, x.Us) })
	slices.SortStableFunc(r.Sequences, func(x, y SequenceRow) int { return cmp.Compare(y.DeviceUs, x.DeviceUs) })
	r.Unread = append(r.Unread, from.Unread...)
}

// keepTexts replaces every string below v by what keep returns for it.
func keepTexts(v any, keep func(string) string) { keepIn(reflect.ValueOf(v), keep) }

func keepIn(v reflect.Value, keep func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(keep(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			keepIn(v.Elem(), keep)
		}
	case reflect.Slice:
		if hasText(v.Type().Elem()) {
			for i := range v.Len() {
				keepIn(v.Index(i), keep)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if hasText(v.Type().Field(i).Type) {
				keepIn(v.Field(i), keep)
			}
		}
	}
}

// hasText leaves out columns of numbers.
func hasText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Pointer, reflect.Slice, reflect.Struct:
		return true
	}
	return false
}
