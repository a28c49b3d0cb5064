package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// builder makes the part of a graph that comes from one trace.
type builder struct {
	g       *Graph
	t       *model.Trace
	s       *model.Strings
	index   int   // of the trace in the graph
	offset  int64 // ns to take off the trace's clock to get the graph's
	acts    [][]stretch
	main    model.LaneID
	bursts  []burst
	laneAt  []int32                 // by model lane: index in Graph.lanes, -1
	nodeOf  []int32                 // by event: the node after which a call has launched, or the device work; -1
	firstOf []int32                 // by event: the first node of a call; -1
	beginOf map[model.EventID]int32 // by device event of a matched collective: the node of its arrival

	// Of every lane the first event that may be kept and the one after the last; all others begin outside of the steps.
	first, end []model.EventID
	flags      []eventFlag // by event: what maps know of it

	steps    []model.TraceStep
	lead     int        // steps at the beginning that only lead in
	from, to model.Time // what begins or is launched outside is left out; to 0: nothing is
	stepNode []int32    // two by step: the node after which it begins and ends
	awaited  map[model.EventID]awaited
	staging  map[model.EventID]model.Time // how long a copying call put data aside before the device began
	returns  []returning
	names    *nameTable
	rows     []model.EventID // device work by end
}

// eventFlag says which of the builder's maps hold an event, so that they need not be asked for each.
type eventFlag uint8

const (
	flagAwaited eventFlag = 1 << iota
	flagStaged
)

// awaited is the device work that a call waited for and how long the call itself takes.
type awaited struct {
	row model.EventID
	own model.Time
}

// returning is a Return node, its call and the device work it waited for.
type returning struct {
	node int32
	call model.EventID
	row  model.EventID
}

// FromTrace makes the graph of one trace; nil where it holds nothing that lasts.
func FromTrace(t *model.Trace, s *model.Strings) *Graph { return fromTrace(t, s, 0) }

// fromTrace is FromTrace of the last steps, 0: of all.
func fromTrace(t *model.Trace, s *model.Strings, last int) *Graph {
	g := &Graph{texts: s, traces: []*model.Trace{t}, origin: t.From}
	b := newBuilder(g, t, s, 0, 0, last)
	if b == nil {
		return nil
	}
	g.room(b)
	b.build(nil)
	if len(g.nodes) == 0 {
		return nil
	}
	g.close()
	b.window()
	return g
}

// newBuilder prepares a trace. last limits it to its last steps and one before that leads in, and to so many events that a report
// can afford them (nil: one step has more); 0: nothing is left out.
func newBuilder(g *Graph, t *model.Trace, s *model.Strings, index int, offset int64, last int) *builder {
	b := &builder{g: g, t: t, s: s, index: index, offset: offset, awaited: map[model.EventID]awaited{},
		staging: map[model.EventID]model.Time{}, beginOf: map[model.EventID]int32{}}
	if g.known == nil {
		g.known = newNameTable(g, s)
	}
	b.names = g.known
	b.steps = t.Steps
	b.ranges()
	if n := len(t.Steps); last > 0 && n > 0 {
		if n > last {
			b.steps, b.lead = t.Steps[n-last-1:], 1
		}
		b.cut()
		for b.inRange() > maxReportEvents && len(b.steps) > b.lead+1 {
			b.steps, b.lead = b.steps[1:], 1
			b.cut()
		}
	}
	if last > 0 && b.inRange() > maxReportEvents {
		return nil
	}
	b.flags = make([]eventFlag, t.Events.Len())
	b.laneAt = fill(len(t.Lanes), -1)
	b.nodeOf, b.firstOf = fill(t.Events.Len(), -1), fill(t.Events.Len(), -1)
	b.stepNode = fill(2*len(b.steps), -1)
	b.acts = make([][]stretch, len(t.Lanes))
	for i := range t.Lanes {
		if t.Lanes[i].Kind == model.LaneThread {
			b.acts[i] = b.activity(model.LaneID(i))
		}
	}
	b.main = b.driver()
	b.sortRows()
	b.findAwaited()
	b.findBursts()
	return b
}

// kept says that an event begins, or was launched, within the steps that are asked for.
func (b *builder) kept(id model.EventID) bool {
	if b.to == 0 {
		return true
	}
	ev := &b.t.Events
	if link := ev.Link[id]; ev.Kind[id].Device() && link != model.NoEvent {
		id = link
	}
	return ev.Start[id] >= b.from && ev.Start[id] < b.to
}

// cut leaves out what lies outside of the steps.
func (b *builder) cut() {
	b.from, b.to = b.steps[0].Start, b.steps[len(b.steps)-1].End
	b.ranges()
}

// inRange is how many events of threads may be kept, which launch all others; of a trace without threads all.
func (b *builder) inRange() int {
	threads, n := 0, 0
	for i := range b.first {
		n += int(b.end[i] - b.first[i])
		if b.t.Lanes[i].Kind == model.LaneThread {
			threads += int(b.end[i] - b.first[i])
		}
	}
	return cmp.Or(threads, n)
}

// maxReportEvents bounds what a report's prices rest on, and with it the graph's size (some 200 bytes an event): fewer steps than
// reportSteps where each is large.
const maxReportEvents = 1 << 20

// ranges finds the events of each lane that may be kept: of threads those that begin in the steps, of streams any.
func (b *builder) ranges() {
	b.first, b.end = make([]model.EventID, len(b.t.Lanes)), make([]model.EventID, len(b.t.Lanes))
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		b.first[i], b.end[i] = l.FirstEvent, l.EndEvent
		if b.to == 0 || l.Kind != model.LaneThread {
			continue
		}
		starts := b.t.Events.Start[l.FirstEvent:l.EndEvent]
		from, _ := slices.BinarySearch(starts, b.from)
		to, _ := slices.BinarySearch(starts, b.to)
		b.first[i], b.end[i] = l.FirstEvent+model.EventID(from), l.FirstEvent+model.EventID(to)
	}
}

// room makes room for the nodes and edges of everything that is kept, so that they are not moved again and again as they come.
func (g *Graph) room(builders ...*builder) {
	nodes, edges := 0, 0
	for _, b := range builders {
		nodes += 2*len(b.steps) + len(b.rows) + 5*len(b.bursts) + 2*len(b.awaited)
		edges += 5*len(b.rows)/2 + 2*len(b.bursts) // most work waits for its launch and for the work before it, some for another stream
		for i := range b.t.Lanes {
			for id := b.first[i]; id < b.end[i] && len(b.acts[i]) > 0; id++ {
				if b.active(id) {
					nodes += 2
				}
			}
		}
	}
	g.nodes, g.edges = make([]node, 0, nodes), make([]edge, 0, edges)
}

func fill(n int, v int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// build makes nodes and edges; groups gives, by device event, the matched collective call it belongs to.
func (b *builder) build(groups map[model.EventID]int32) {
	if b.main != model.NoLane {
		b.thread(b.main)
	}
	for i := range b.t.Lanes {
		if lane := model.LaneID(i); lane != b.main && b.t.Lanes[i].Kind == model.LaneThread {
			b.thread(lane)
		}
	}
	b.device(groups)
	b.linkBursts()
	b.linkReturns()
}

func (b *builder) openLane(lane model.LaneID) int32 {
	b.laneAt[lane] = int32(len(b.g.lanes))
	n := int32(len(b.g.nodes))
	b.g.lanes = append(b.g.lanes, laneNode(b.index, lane, n, b.t.Rank))
	return b.laneAt[lane]
}

func laneNode(trace int, id model.LaneID, first int32, rank int) lane {
	return lane{trace: trace, id: id, first: first, end: first, rank: rank}
}

func (b *builder) closeLane(l int32) { b.g.lanes[l].end = int32(len(b.g.nodes)) }

// holdBack lets nodes begin no earlier than pieces, of which each is made for one of them in a lane of its own: what no recorded event is.
func (b *builder) holdBack(nodes []int32, piece func(k int, held int32) node) {
	if len(nodes) == 0 {
		return
	}
	l := int32(len(b.g.lanes))
	b.g.lanes = append(b.g.lanes, laneNode(b.index, model.NoLane, int32(len(b.g.nodes)), b.t.Rank))
	for k, held := range nodes {
		n := piece(k, held)
		n.event, n.prev = model.NoEvent, -1
		b.g.wait(held, b.g.add(n), 0, false)
	}
	b.closeLane(l)
}

// at is an instant on the graph's clock.
func (b *builder) at(t model.Time) int64 { return int64(t.Sub(b.g.origin)) - b.offset }

func (b *builder) text(s model.Str) string { return b.s.Text(s) }

// hostKind is what a thread does inside an event.
func (b *builder) hostKind(id model.EventID) (Kind, uint8) {
	ev := &b.t.Events
	switch ev.Kind[id] {
	case model.KindOp:
		return Op, b.names.op(ev.Name[id])
	case model.KindRuntime:
		if b.names.call(ev.Name[id]) == callAllocates {
			return Alloc, 0
		}
		return Call, 0
	}
	return Host, 0
}

// window makes one window of each step, or of the whole trace where it has none. A step lasts until the device work that was
// launched in it has ended, and begins no earlier than the one before it ended.
func (b *builder) window() {
	if b.main == model.NoLane || b.laneAt[b.main] < 0 || b.g.lanes[b.laneAt[b.main]].first == b.g.lanes[b.laneAt[b.main]].end {
		b.deviceWindow() // no thread, or none in which anything lasts
		return
	}
	l, before := b.g.lanes[b.laneAt[b.main]], len(b.g.windows)
	if len(b.steps) == 0 {
		b.addWindow(0, -1, b.g.nodes[l.first].at, l.end-1, b.g.traced(l.end-1))
		b.tails(b.g.windows[before:])
		return
	}
	for i, s := range b.steps {
		b.addWindow(s.Number, b.stepNode[2*i], b.at(s.Start), b.stepNode[2*i+1], b.at(s.End))
		if n := len(b.g.windows); i < b.lead && n > before {
			b.g.windows[n-1].lead = true
		}
	}
	b.tails(b.g.windows[before:])
}

// deviceWindow is for traces without threads: from the first to the last device work.
func (b *builder) deviceWindow() {
	first, last := int32(-1), int32(-1)
	for _, l := range b.g.lanes {
		for i := l.first; i < l.end && l.trace == b.index; i++ {
			if first < 0 || b.g.nodes[i].at < b.g.nodes[first].at {
				first = i
			}
			if last < 0 || b.g.traced(i) > b.g.traced(last) {
				last = i
			}
		}
	}
	if last >= 0 {
		b.addWindow(0, -1, b.g.nodes[first].at, last, b.g.traced(last))
	}
}

func (b *builder) addWindow(number int64, from int32, fromAt int64, to int32, toAt int64) {
	if toAt > fromAt {
		b.g.windows = append(b.g.windows, window{number: number, from: from, fromAt: fromAt, to: to, toAt: toAt, tail: -1, trace: b.index,
			start: fromAt, end: toAt})
	}
}

// tails finds the device work that ends last of what was launched in each window, and prolongs the windows to it.
func (b *builder) tails(windows []window) {
	ev := &b.t.Events
	for _, id := range b.rows {
		n := b.nodeOf[id]
		if n < 0 || ev.Link[id] == model.NoEvent {
			continue
		}
		at := b.at(ev.Start[ev.Link[id]])
		i, _ := slices.BinarySearchFunc(windows, at+1, func(w window, t int64) int { return cmp.Compare(w.fromAt, t) })
		if i--; i >= 0 && at < windows[i].toAt && (windows[i].tail < 0 || b.g.traced(n) > b.g.traced(windows[i].tail)) {
			windows[i].tail = n
		}
	}
	for i := range windows {
		w := &windows[i]
		if w.tail >= 0 {
			w.end = max(w.end, b.g.traced(w.tail))
		}
		if i > 0 {
			w.start = max(w.start, windows[i-1].end)
			w.end = max(w.end, w.start)
		}
	}
}

// traced is the end of a node as recorded.
func (g *Graph) traced(n int32) int64 { return g.nodes[n].at + g.nodes[n].dur }
