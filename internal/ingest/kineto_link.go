package ingest

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// linker finds parents, launches and operators of a trace whose columns are in order.
type linker struct {
	b     *builder
	ev    *model.Events
	stack []model.EventID
	calls launches
	slack model.Dur // by how much a child may outlast its parent through rounding
}

func (b *builder) link() {
	ev := &b.trace.Events
	n := ev.Len()
	ev.Parent, ev.Link, ev.Op = make([]model.EventID, n), make([]model.EventID, n), make([]model.EventID, n)
	for i := range n {
		ev.Parent[i], ev.Link[i], ev.Op[i] = model.NoEvent, model.NoEvent, model.NoEvent
	}
	l := linker{b: b, ev: ev}
	if !b.scan.Fractions {
		l.slack = 1000
	}
	for i := range b.lanes.list {
		lane := &b.lanes.list[i]
		if lane.key.kind == model.LaneThread {
			l.parents(model.EventID(lane.from), model.EventID(lane.from+lane.events))
		}
	}
	l.launch()
	l.externals()
}

// maxWalk bounds the search for an enclosing event among ones that overlap without nesting.
const maxWalk = 256

// parents gives every event of one thread the innermost event that encloses it, and runtime calls their operator.
func (l *linker) parents(from, to model.EventID) {
	ev := l.ev
	stack := l.stack[:0]
	for id := from; id < to; id++ {
		start, end := ev.Start[id], ev.End(id)
		for len(stack) > 0 && ev.End(stack[len(stack)-1]) <= start {
			stack = stack[:len(stack)-1]
		}
		for k := len(stack) - 1; k >= 0 && k >= len(stack)-maxWalk; k-- {
			if p := stack[k]; ev.End(p)+model.Time(l.slack) >= end && ev.End(p) > start {
				ev.Parent[id] = p
				break
			}
		}
		if ev.Kind[id] == model.KindRuntime {
			ev.Op[id] = l.operatorOf(ev.Parent[id])
		}
		stack = append(stack, id)
	}
	l.stack = stack
}

// operatorOf is the innermost operator at or above an event.
func (l *linker) operatorOf(id model.EventID) model.EventID {
	for id != model.NoEvent && l.ev.Kind[id] != model.KindOp {
		id = l.ev.Parent[id]
	}
	return id
}

// launches finds rows by an id that is unique in one process only: a file may hold several processes.
type launches struct {
	min   int64
	dense []model.EventID // by id − min, where ids are dense and unique
	list  []launch        // else, by id and start
}

type launch struct {
	correlation int64
	start       model.Time
	id          model.EventID
}

// collect indexes the runtime calls by correlation.
func (l *linker) collect() launches {
	ev := l.ev
	low, high, count := int64(1)<<62, int64(-1)<<62, 0
	for i := range ev.RuntimeDetails {
		if c := ev.RuntimeDetails[i].Correlation; c != 0 {
			low, high = min(low, c), max(high, c)
			count++
		}
	}
	calls := launches{min: low}
	if span := high - low; count > 0 && span >= 0 && span < int64(8*count)+4096 && calls.fill(ev, span) {
		return calls
	}
	calls = launches{list: make([]launch, 0, count)}
	for id := range ev.Kind {
		if ev.Kind[id] != model.KindRuntime || ev.Detail[id] < 0 {
			continue
		}
		if c := ev.RuntimeDetails[ev.Detail[id]].Correlation; c != 0 {
			calls.list = append(calls.list, launch{c, ev.Start[id], model.EventID(id)})
		}
	}
	calls.sort()
	return calls
}

// fill makes the dense table; false when an id stands twice.
func (c *launches) fill(ev *model.Events, span int64) bool {
	c.dense = make([]model.EventID, span+1)
	for i := range c.dense {
		c.dense[i] = model.NoEvent
	}
	for id := range ev.Kind {
		if ev.Kind[id] != model.KindRuntime || ev.Detail[id] < 0 {
			continue
		}
		if x := ev.RuntimeDetails[ev.Detail[id]].Correlation; x != 0 {
			if c.dense[x-c.min] != model.NoEvent {
				return false
			}
			c.dense[x-c.min] = model.EventID(id)
		}
	}
	return true
}

func (c *launches) sort() {
	slices.SortFunc(c.list, func(a, b launch) int {
		return cmp.Or(cmp.Compare(a.correlation, b.correlation), cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id))
	})
}

// find is the row with that id; of several, the last that began by the given time, or the first of all.
func (c *launches) find(correlation int64, start model.Time) model.EventID {
	if correlation == 0 {
		return model.NoEvent
	}
	if c.dense != nil {
		if i := correlation - c.min; i >= 0 && i < int64(len(c.dense)) {
			return c.dense[i]
		}
		return model.NoEvent
	}
	behind, _ := slices.BinarySearchFunc(c.list, launch{correlation: correlation, start: start}, func(l, want launch) int {
		return cmp.Or(cmp.Compare(l.correlation, want.correlation), cmp.Compare(l.start, want.start), -1)
	})
	for _, i := range [2]int{behind - 1, behind} {
		if i >= 0 && i < len(c.list) && c.list[i].correlation == correlation {
			return c.list[i].id
		}
	}
	return model.NoEvent
}

// farSkew is how much earlier than its launch a device row may begin and still be taken for its work: residual skew of
// the clocks is microseconds.
const farSkew = 1_000_000

// launch links device rows and runtime calls.
func (l *linker) launch() {
	l.calls = l.collect()
	ev := l.ev
	early := l.b.header.startsEarly()
	for i := range l.b.lanes.list {
		lane := &l.b.lanes.list[i]
		if lane.key.kind == model.LaneThread {
			continue
		}
		var busyTo model.Time
		last := model.NoEvent // what is busy to then
		for id := model.EventID(lane.from); id < model.EventID(lane.from+lane.events); id++ {
			kind := ev.Kind[id]
			if kind.Device() {
				end := ev.End(id)
				dependent := early && last != model.NoEvent && ev.Kind[last] == model.KindKernel && kind == model.KindKernel && end > busyTo
				if ev.Start[id] < busyTo && !dependent {
					l.b.skipped.add("stream-overlap", -1)
				}
				if end > busyTo {
					busyTo, last = end, id
				}
			}
			if (kind.Device() || kind == model.KindSync || kind == model.KindDeviceEvent) && ev.Detail[id] >= 0 {
				l.device(id, kind)
			}
		}
	}
}

func (l *linker) device(id model.EventID, kind model.Kind) {
	ev := l.ev
	call := l.calls.find(ev.DeviceDetails[ev.Detail[id]].Correlation, ev.Start[id])
	if call == model.NoEvent {
		return
	}
	if early := ev.Start[call] - ev.Start[id]; early > 0 && kind.Device() {
		if early > farSkew {
			l.b.skipped.add("before-launch-far", -1)
			return
		}
		l.b.skipped.add("before-launch", -1)
	}
	ev.Link[id], ev.Op[id] = call, ev.Op[call]
	if first := ev.Link[call]; kind.Device() && (first == model.NoEvent || ev.Start[id] < ev.Start[first]) {
		ev.Link[call] = id
	}
}

// externals decides whether "External id" of runtime rows names operators, and if so uses it for rows that have none
// yet: runtime rows whose thread id is not the operator's, and device rows without their call.
func (l *linker) externals() {
	ev := l.ev
	agree, disagree, missing := 0, 0, 0
	for id := range ev.Kind {
		if ev.Kind[id] != model.KindRuntime || ev.Detail[id] < 0 {
			continue
		}
		d := ev.RuntimeDetails[ev.Detail[id]]
		switch op := ev.Op[id]; {
		case d.External == 0:
		case op == model.NoEvent || ev.Detail[op] < 0:
			missing++
		case ev.OpDetails[ev.Detail[op]].External == d.External:
			agree++
		default:
			disagree++
		}
	}
	l.b.trace.Features.ExternalLinks = agree > 0 && agree > 4*disagree
	if agree+disagree == 0 {
		l.b.trace.Features.ExternalLinks = l.orphans()
	}
	if !l.b.trace.Features.ExternalLinks {
		return
	}
	ops := l.operators()
	for id := range ev.Kind {
		if ev.Op[id] != model.NoEvent || ev.Detail[id] < 0 {
			continue
		}
		switch {
		case ev.Kind[id] == model.KindRuntime:
			ev.Op[id] = ops.find(ev.RuntimeDetails[ev.Detail[id]].External, ev.Start[id])
		case ev.Kind[id].Device() && ev.Link[id] != model.NoEvent:
			ev.Op[id] = ops.find(ev.RuntimeDetails[ev.Detail[ev.Link[id]]].External, ev.Start[id])
		case ev.Kind[id].Device():
			ev.Op[id] = ops.find(ev.DeviceDetails[ev.Detail[id]].External, ev.Start[id])
		}
	}
}

// orphans says whether device rows without any runtime call in the file name operators that began before them.
func (l *linker) orphans() bool {
	ev := l.ev
	var ops launches
	agree, disagree := 0, 0
	for id := range ev.Kind {
		if !ev.Kind[id].Device() || ev.Detail[id] < 0 || ev.Link[id] != model.NoEvent {
			continue
		}
		d := ev.DeviceDetails[ev.Detail[id]]
		if d.External == 0 {
			continue
		}
		if ops.list == nil {
			if ops = l.operators(); len(ops.list) == 0 {
				return false
			}
		}
		if op := ops.find(d.External, ev.Start[id]); d.External != d.Correlation && op != model.NoEvent && ev.Start[op] <= ev.Start[id] {
			agree++
		} else {
			disagree++
		}
	}
	return agree > 4*disagree
}

// operators indexes operators by their own id.
func (l *linker) operators() launches {
	ev := l.ev
	var ops launches
	for id := range ev.Kind {
		if ev.Kind[id] == model.KindOp && ev.Detail[id] >= 0 {
			if external := ev.OpDetails[ev.Detail[id]].External; external != 0 {
				ops.list = append(ops.list, launch{external, ev.Start[id], model.EventID(id)})
			}
		}
	}
	ops.sort()
	return ops
}
