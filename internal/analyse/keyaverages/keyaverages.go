package keyaverages

import (
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Options say how the rows of the table are formed.
type Options struct {
	ByShapes        bool // one row per name and input shapes
	ByStack         int  // and per first n entries of the stack, innermost first; 0: not by stack
	ByModule        bool // and per module that the event ran in, or is the backward of
	PythonFunctions bool // Python calls become rows of their own
	// IgnorePython leaves Python calls out of the tree as well, as PyTorch up to 2.4 does: an annotation's own CPU
	// time then includes the Python code in it.
	IgnorePython bool
	// FloatMemoryTimes compares memory events with operators the way PyTorch 2.3 and 2.4 do, in float64, which at today's
	// times moves an operator's ends by up to 256 ns.
	FloatMemoryTimes bool
}

// DeviceKind is where a row of the table ran.
type DeviceKind uint8

// Kinds of devices in tables.
const (
	OnCPU DeviceKind = iota
	OnDevice
)

// Row is one row of torch.profiler's table: all events of one name (and shapes, and stack). Times of children
// that overlap on the device are added, not merged, as torch does.
type Row struct {
	Name             string
	Count            int64
	SelfCPU, CPU     model.Dur
	SelfDevice       model.Dur
	Device           model.Dur
	SelfCPUBytes     int64
	CPUBytes         int64
	SelfDeviceBytes  int64
	DeviceBytes      int64
	Flops            int64
	InputShapes      string   // as torch prints them, "[[2, 3], []]": lists of tensors are empty; only when grouped by shapes
	Stack            []string // innermost first; only when grouped by stack
	Module           string   // path in its model; only when grouped by module
	DeviceType       DeviceKind
	IsUserAnnotation bool
	IsPython         bool
	IsAsync          bool          // of the first event
	TopLevel         bool          // of the first event: nothing encloses it
	First            model.EventID // the first event; NoEvent for "[memory]"
}

// FunctionEvent is one entry of torch's event list, in its order (start, -end), without the entries that torch removes.
type FunctionEvent struct {
	Event            model.EventID // NoEvent for an allocation outside every CPU event
	Name             string
	Start            model.Time
	Parent           int32 // index in the list; -1
	Group            int32 // index of its row in the table; -1 for Python calls that are no row
	SelfCPU, CPU     model.Dur
	SelfDevice       model.Dur
	Device           model.Dur
	SelfCPUBytes     int64
	CPUBytes         int64
	SelfDeviceBytes  int64
	DeviceBytes      int64
	Flops            int64
	Shapes           model.Str // raw JSON as in the trace
	DeviceType       DeviceKind
	IsUserAnnotation bool
	IsPython         bool
	IsAsync          bool
	stacks           *stackFinder
	row              int32
}

// Stack is the event's Python stack, innermost first, made when it is asked for: those of all events together are as long as the number of
// events times their depth. It has MaxStackEntries entries at most.
func (e *FunctionEvent) Stack() []string { return e.stacks.entries(e.row, MaxStackEntries) }

// Of is torch.profiler's key_averages() over one or several traces of the same session: rows in first-seen
// order, unsorted. It equals torch's own table of the same run wherever the trace holds what torch used
// (docs/differences.md lists the rest).
func Of(traces []*model.Trace, s *model.Strings, opt Options) []Row {
	g := newGrouping(s, opt)
	for _, t := range traces {
		eachFunctions(t, s, opt, func(f *functions) { g.add(f, nil) })
	}
	return g.rows
}

// FunctionEvents is the list behind the key averages of one trace, with its table.
func FunctionEvents(t *model.Trace, s *model.Strings, opt Options) ([]FunctionEvent, []Row) {
	f := newFunctions(t, s, opt)
	g := newGrouping(s, opt)
	groups := make([]int32, len(f.rows))
	g.add(f, groups)
	stacks := newStackFinder(f)
	out := make([]FunctionEvent, 0, len(f.rows))
	index := make([]int32, len(f.rows))
	for i := range f.rows {
		row := &f.rows[i]
		if row.flags&rowRemoved != 0 {
			continue
		}
		index[i] = int32(len(out))
		e := FunctionEvent{Event: max(row.event, model.NoEvent), Name: f.nameText(f.name(row)), Start: f.start(row),
			Parent: -1, Group: groups[i], stacks: stacks, row: int32(i)}
		if row.parent >= 0 {
			e.Parent = index[row.parent]
		}
		var a Row
		f.accumulate(&a, int32(i))
		e.SelfCPU, e.CPU, e.SelfDevice, e.Device = a.SelfCPU, a.CPU, a.SelfDevice, a.Device
		e.SelfCPUBytes, e.CPUBytes, e.SelfDeviceBytes, e.DeviceBytes = a.SelfCPUBytes, a.CPUBytes, a.SelfDeviceBytes, a.DeviceBytes
		e.Flops, e.Shapes = a.Flops, f.shapes(row)
		e.DeviceType, e.IsUserAnnotation, e.IsPython, e.IsAsync = deviceKind(row.flags), row.flags&rowAnnotation != 0,
			row.flags&rowPython != 0, row.flags&rowAsync != 0
		out = append(out, e)
	}
	return out, g.rows
}

func deviceKind(flags uint8) DeviceKind {
	if flags&rowDevice != 0 {
		return OnDevice
	}
	return OnCPU
}

func (f *functions) nameText(name model.Str) string {
	if name == memoryName {
		return "[memory]"
	}
	if text := f.texts.Text(name); naming.ClassifyEvent(text) != naming.EventStep {
		return text
	}
	return "ProfilerStep*"
}

// detail is the row's operator arguments, nil without them.
func (f *functions) detail(row *functionRow) *model.OpDetail {
	if row.event < 0 {
		return nil
	}
	ev := &f.trace.Events
	if k := ev.Kind[row.event]; k != model.KindOp && k != model.KindAnnotation || ev.Detail[row.event] < 0 {
		return nil
	}
	return &ev.OpDetails[ev.Detail[row.event]]
}

// args is what the row's operator was called with, all empty where that is not known.
func (f *functions) args(row *functionRow) *model.OpArgs {
	if f.detail(row) == nil {
		return f.trace.Events.OpArgsOf(-1)
	}
	return f.trace.Events.OpArgsOf(f.trace.Events.Detail[row.event])
}

func (f *functions) shapes(row *functionRow) model.Str {
	return f.args(row).Shapes
}

// accumulate adds one row's columns.
func (f *functions) accumulate(a *Row, i int32) {
	row := &f.rows[i]
	selfCPU, cpu, selfDevice, device := f.times(row)
	a.Count++
	a.SelfCPU += selfCPU
	a.CPU += cpu
	a.SelfDevice += selfDevice
	a.Device += device
	if m := f.memory.of(int(i)); m != (memoryUse{}) {
		a.CPUBytes += m.cpu
		a.DeviceBytes += m.device
		if row.flags&rowAsync == 0 {
			a.SelfCPUBytes += m.cpu - m.cpuBelow
			a.SelfDeviceBytes += m.device - m.deviceBelow
		}
	}
	if d := f.args(row); d.Shapes != 0 {
		a.Flops += arguments.Flops(f.texts.Text(f.name(row)), f.texts.Text(d.Shapes), f.texts.Text(d.Concrete))
	}
}

// grouping forms the rows of the table. Rows of plain tables are found by name alone; only grouping by shapes or stacks,
// where a name can have thousands of rows, needs a map.
type grouping struct {
	texts   *model.Strings
	opt     Options
	rows    []Row
	keys    []groupKey
	next    []int32 // by row: another row of the same name; -1
	first   []int32 // by name: its first row + 1
	memory  int32   // the row of "[memory]" + 1
	split   map[groupKey]int32
	stacks  map[string]int32    // distinct stacks
	shapes  map[model.Str]int32 // distinct shapes, by the trace's text
	printed []string            // as torch prints them
	byText  map[string]int32    // number of each
}

type groupKey struct {
	name   model.Str
	shapes int32
	stack  int32
	module model.Str
	flags  uint8
}

func newGrouping(s *model.Strings, opt Options) *grouping {
	return &grouping{texts: s, opt: opt, first: make([]int32, s.Len()), rows: []Row{}, split: map[groupKey]int32{},
		stacks: map[string]int32{}, shapes: map[model.Str]int32{}, printed: []string{""}, byText: map[string]int32{"": 0}}
}

// add sorts a trace's rows into groups; groups, if not nil, receives each row's group.
func (g *grouping) add(f *functions, groups []int32) {
	var stacks *stackFinder
	if g.opt.ByStack > 0 {
		stacks = newStackFinder(f)
	}
	for i := range f.rows {
		row := &f.rows[i]
		if groups != nil {
			groups[i] = -1
		}
		if row.flags&rowRemoved != 0 || row.flags&rowPython != 0 && !g.opt.PythonFunctions {
			continue
		}
		at := g.find(f, stacks, int32(i))
		f.accumulate(&g.rows[at], int32(i))
		if groups != nil {
			groups[i] = at
		}
	}
}

// find returns the row's group, making it where it is new.
func (g *grouping) find(f *functions, stacks *stackFinder, i int32) int32 {
	row := &f.rows[i]
	key := groupKey{name: f.name(row), flags: row.flags & (rowDevice | rowAnnotation)}
	if g.opt.ByShapes {
		key.shapes = g.shapesID(f.shapes(row))
	}
	var entries []string
	if stacks != nil {
		entries = stacks.entries(i, g.opt.ByStack)
		key.stack = g.stackID(entries)
	}
	if g.opt.ByModule {
		key.module = moduleOf(f.trace, row.event)
	}
	if at, ok := g.known(key); ok {
		return at
	}
	at := int32(len(g.rows))
	g.rows = append(g.rows, Row{
		Name: f.nameText(key.name), InputShapes: g.printed[key.shapes], Stack: entries, Module: g.texts.Text(key.module),
		DeviceType: deviceKind(row.flags), IsUserAnnotation: row.flags&rowAnnotation != 0, IsPython: row.flags&rowPython != 0,
		IsAsync: row.flags&rowAsync != 0, TopLevel: row.parent < 0, First: max(row.event, model.NoEvent),
	})
	g.remember(key, at)
	return at
}

// head is where the rows of a name begin.
func (g *grouping) head(name model.Str) *int32 {
	if name == memoryName {
		return &g.memory
	}
	return &g.first[name]
}

func (g *grouping) known(key groupKey) (int32, bool) {
	if g.opt.ByShapes || g.opt.ByModule || g.opt.ByStack > 0 {
		at, ok := g.split[key]
		return at, ok
	}
	for at := *g.head(key.name) - 1; at >= 0; at = g.next[at] {
		if g.keys[at] == key {
			return at, true
		}
	}
	return 0, false
}

func (g *grouping) remember(key groupKey, at int32) {
	if g.opt.ByShapes || g.opt.ByModule || g.opt.ByStack > 0 {
		g.split[key] = at
		return
	}
	head := g.head(key.name)
	g.keys = append(g.keys, key)
	g.next = append(g.next, *head-1)
	*head = at + 1
}

// shapesID numbers distinct shapes as torch prints them: the trace's text, but an empty list for each list of tensors.
func (g *grouping) shapesID(raw model.Str) int32 {
	if id, ok := g.shapes[raw]; ok {
		return id
	}
	text := arguments.FlatShapes(g.texts.Text(raw))
	id, ok := g.byText[text]
	if !ok {
		id = int32(len(g.printed))
		g.printed = append(g.printed, text)
		g.byText[text] = id
	}
	g.shapes[raw] = id
	return id
}

// moduleOf is the path of the module that an event ran in or is the backward of, else what torch itself wrote of it (of
// TorchScript only); 0 where neither is known.
func moduleOf(t *model.Trace, id model.EventID) model.Str {
	if name := t.Modules.At(id); name != nil {
		return name.Path
	}
	if id < 0 || t.Events.Kind[id] != model.KindOp {
		return 0
	}
	return t.Events.OpArgsOf(t.Events.Detail[id]).Module
}
