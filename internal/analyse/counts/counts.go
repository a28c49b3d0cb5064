package counts

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Kind is what a StepCount counts.
type Kind uint8

// What is counted of a step. All but CountOp and CountCall have no name.
const (
	Ops         Kind = iota // calls of operators, of every one that a trace holds
	Op                      // calls of one operator
	Launches                // calls that put work on a device
	Copies                  // copies on a device
	CopyBytes               // what they move
	Syncs                   // calls that wait for a device
	Reserves                // calls that take device memory from the driver or give it back
	Allocations             // tensors' memory taken from an allocator
	AllocBytes              // what they take
	Call                    // calls of one operator from one line, where call stacks were recorded
	numCountKinds
)

// countBasis is what a trace must hold for a kind to be counted in it.
type countBasis uint8

const (
	basisOps countBasis = iota
	basisStacks
	basisDevice
	basisMemory
	numCountBases
)

var countBases = [numCountKinds]countBasis{Call: basisStacks, Launches: basisDevice, Copies: basisDevice, CopyBytes: basisDevice,
	Syncs: basisDevice, Reserves: basisDevice, Allocations: basisMemory, AllocBytes: basisMemory}

// Row is how often something happened in a step: over the steps that were traced, the least, the median and the most.
type Row struct {
	Kind      Kind
	Name      string
	Where     code.Where // of CountCall
	Steps     int        // traced steps that hold what is counted
	Low, High int64
	Median    float64
	// Under are the operators and annotations around most calls of a CountOp, the outermost first.
	Under []string
}

// Counter counts what happens in each traced step. Counts do not depend on how fast anything ran, so that one run tells. The zero
// value is ready.
type Counter struct {
	steps [numCountBases]int
	rows  map[countKey]map[int64]int // how many steps have which count; steps without an entry have none
	paths callPaths
}

type countKey struct {
	kind  Kind
	name  string
	where code.Where
}

// Add counts the steps of one trace. Events belong to the step in which they begin, on whichever thread; work of a device counts where it
// was launched.
func (c *Counter) Add(t *model.Trace, s *model.Strings, steps []times.Interval) {
	steps = times.Disjoint(slices.Clone(steps))
	if len(steps) == 0 {
		return
	}
	if c.rows == nil {
		c.rows = map[countKey]map[int64]int{}
	}
	f := &t.Features
	for basis, has := range [numCountBases]bool{basisOps: true, basisStacks: f.PythonStacks, basisDevice: f.Device, basisMemory: f.Memory} {
		if has {
			c.steps[basis] += len(steps)
		}
	}
	one := &stepCounting{t: t, s: s, steps: steps, calls: naming.NewCallClasses(s), sums: map[countRow]int64{}}
	if f.PythonStacks {
		one.lines = code.NewFinder(t, s)
	}
	one.events()
	one.memory()
	for at, n := range one.byText() {
		c.note(at.countKey, n)
	}
	c.paths.merge(one.callPaths())
}

// stepKey is a countKey in one step.
type stepKey struct {
	countKey
	step int32
}

// byText are the sums of a trace; places that differ in operator or module alone are one.
func (c *stepCounting) byText() map[stepKey]int64 {
	out := make(map[stepKey]int64, len(c.sums))
	for at, n := range c.sums {
		key := countKey{kind: at.kind, name: c.s.Text(at.name)}
		if at.place >= 0 {
			w := &c.lines.Places[at.place]
			key.where = code.Where{File: w.File, Line: w.Line, Function: w.Function}
		}
		out[stepKey{key, at.step}] += n
	}
	return out
}

// note books that one step has this count.
func (c *Counter) note(key countKey, n int64) {
	if c.rows[key] == nil {
		c.rows[key] = map[int64]int{}
	}
	c.rows[key][n]++
}

// Merge takes over what another counter has counted.
func (c *Counter) Merge(o *Counter) {
	if c.rows == nil {
		c.rows = map[countKey]map[int64]int{}
	}
	for i, n := range o.steps {
		c.steps[i] += n
	}
	c.paths.merge(o.paths)
	for key, counts := range o.rows {
		if c.rows[key] == nil {
			c.rows[key] = map[int64]int{}
		}
		for n, steps := range counts {
			c.rows[key][n] += steps
		}
	}
}

// Keep replaces the texts that the counter holds by what keep returns for them.
func (c *Counter) Keep(keep func(string) string) {
	rows := make(map[countKey]map[int64]int, len(c.rows))
	for key, counts := range c.rows {
		key.name, key.where.File, key.where.Function = keep(key.name), keep(key.where.File), keep(key.where.Function)
		rows[key] = counts
	}
	c.rows, c.paths = rows, c.paths.kept(keep)
}

// Steps is the number of traced steps in which operators were counted.
func (c *Counter) Steps() int { return c.steps[basisOps] }

// Rows are the counts by kind, most first. What the traces cannot tell has no row; what they could tell and did not happen has one of 0,
// for kinds without a name.
func (c *Counter) Rows() []Row {
	var out []Row
	for kind := range numCountKinds {
		key := countKey{kind: kind}
		if kind != Op && kind != Call && c.steps[countBases[kind]] > 0 && c.rows[key] == nil {
			c.note(key, 0)
			c.rows[key][0] = c.steps[countBases[kind]]
		}
	}
	for key, counts := range c.rows {
		row := stepCount(key, counts, c.steps[countBases[key.kind]])
		if key.kind == Op {
			row.Under = c.paths.most(key.name)
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Median, a.Median), cmp.Compare(b.High, a.High),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Where.File, b.Where.File), cmp.Compare(a.Where.Line, b.Where.Line),
			strings.Compare(a.Where.Function, b.Where.Function))
	})
	return out
}

func stepCount(key countKey, counts map[int64]int, steps int) Row {
	row := Row{Kind: key.kind, Name: key.name, Where: key.where, Steps: steps}
	values := make([]int64, 0, len(counts)+1)
	seen := 0
	for n, of := range counts {
		values = append(values, n)
		seen += of
	}
	if seen < steps && counts[0] == 0 {
		values = append(values, 0)
	}
	slices.Sort(values)
	row.Low, row.High = values[0], values[len(values)-1]
	row.Median = (float64(countAt(values, counts, steps, seen, (steps-1)/2)) + float64(countAt(values, counts, steps, seen, steps/2))) / 2
	return row
}

// countAt is the count of the step that is at a place when steps are sorted by it.
func countAt(values []int64, counts map[int64]int, steps, seen, place int) int64 {
	for _, n := range values {
		of := counts[n]
		if n == 0 {
			of += max(steps-seen, 0)
		}
		if place < of {
			return n
		}
		place -= of
	}
	return values[len(values)-1]
}

// stepCounting is one trace while it is counted.
type stepCounting struct {
	t     *model.Trace
	s     *model.Strings
	steps []times.Interval
	calls *naming.CallClasses
	lines *code.Finder // nil without call stacks
	sums  map[countRow]int64
	tree  pathTree
}

// countRow is something that is counted, in one step.
type countRow struct {
	kind  Kind
	step  int32
	name  model.Str
	place int32 // of the line finder; -1 none
}

func (c *stepCounting) add(kind Kind, step int, name model.Str, by int64) {
	c.sums[countRow{kind, int32(step), name, -1}] += by
}

func (c *stepCounting) events() {
	ev := &c.t.Events
	c.tree = newPathTree(ev)
	step, lane := 0, model.NoLane
	for i := range ev.Start {
		id := model.EventID(i)
		if ev.Lane[i] != lane {
			step, lane = 0, ev.Lane[i]
		}
		if ev.Kind[i].Device() {
			c.device(id)
			continue
		}
		c.tree.see(id)
		for step < len(c.steps) && c.steps[step].End <= ev.Start[i] {
			step++
		}
		if step == len(c.steps) || ev.Start[i] < c.steps[step].Start {
			continue
		}
		switch ev.Kind[i] {
		case model.KindOp:
			c.op(id, step)
		case model.KindRuntime:
			c.call(id, step)
		}
	}
}

func (c *stepCounting) op(id model.EventID, step int) {
	name := c.t.Events.Name[id]
	c.add(Ops, step, 0, 1)
	c.add(Op, step, name, 1)
	c.tree.note(id)
	if c.lines == nil {
		return
	}
	if place := c.lines.Number(id); c.lines.Places[place].Known() {
		c.sums[countRow{Call, int32(step), name, place}]++
	}
}

func (c *stepCounting) call(id model.EventID, step int) {
	ev := &c.t.Events
	if ev.Link[id] != model.NoEvent {
		c.add(Launches, step, 0, 1)
	}
	switch c.calls.Of(ev.Name[id]) {
	case naming.CallBlocks:
		c.add(Syncs, step, 0, 1)
	case naming.CallAllocates:
		c.add(Reserves, step, 0, 1)
	}
}

// device counts a copy in the step that launched it.
func (c *stepCounting) device(id model.EventID) {
	ev := &c.t.Events
	if ev.Kind[id] != model.KindMemcpy {
		return
	}
	at := ev.Start[id]
	if call := ev.Link[id]; call != model.NoEvent {
		at = ev.Start[call]
	}
	step := times.Within(c.steps, at)
	if step < 0 {
		return
	}
	c.add(Copies, step, 0, 1)
	if bytes := ev.DeviceArgsOf(ev.Detail[id]).Bytes; bytes > 0 {
		c.add(CopyBytes, step, 0, bytes)
	}
}

func (c *stepCounting) memory() {
	m := &c.t.Memory
	for i, bytes := range m.Bytes {
		if bytes <= 0 {
			continue
		}
		if step := times.Within(c.steps, m.Time[i]); step >= 0 {
			c.add(Allocations, step, 0, 1)
			c.add(AllocBytes, step, 0, bytes)
		}
	}
}

// TracedSteps are the steps of a trace that stand for the others: of a process that the agent saw, its steps of the main kind under a
// profiler, else those that were found in the trace.
func TracedSteps(s *model.Session, t *model.Trace) []times.Interval {
	var out []times.Interval
	if t.Process >= 0 && t.Process < len(s.Processes) && len(s.Processes[t.Process].Steps) > 0 {
		p := s.Processes[t.Process]
		kind, _ := account.MainKind(p)
		from, to := recorded(p, t)
		for i := range p.Steps {
			st := &p.Steps[i]
			if st.Kind == kind && (st.Phase == model.PhaseTrace || st.Phase == model.PhaseDetail) && st.Start >= from &&
				st.End <= to && st.End > st.Start {
				out = append(out, times.Interval{Start: st.Start, End: st.End})
			}
		}
		return out
	}
	for _, st := range t.Steps {
		if !st.Warmup && st.End > st.Start {
			out = append(out, times.Interval{Start: st.Start, End: st.End})
		}
	}
	return out
}

// recorded is when a process's trace was recorded: a step may begin before its first event and end after its last one.
func recorded(p *model.Process, t *model.Trace) (from, to model.Time) {
	if t.Window < 0 || t.Window >= len(p.Windows) {
		return t.From, t.To
	}
	w := &p.Windows[t.Window]
	return min(t.From, w.Start), max(t.To, w.End)
}
