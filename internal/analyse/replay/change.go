package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Change is a question: what would a step take if …?
type Change struct {
	// Scale multiplies the time of everything of a name (see Session.Names) by a factor, 0 and more.
	Scale []Scale
	// NoDeviceWaits lets calls that waited for the device return at once.
	NoDeviceWaits bool
	// RanksEqual lets ranks meet when the one in the middle has arrived, not the last; the answer is about the one in the middle.
	RanksEqual bool
	// Workers is the number of DataLoader workers; 0: as recorded, NoWorkers: none.
	Workers int
}

// NoWorkers is the number of workers of a DataLoader whose batches are prepared by the process that takes them.
const NoWorkers = -1

// Scale is a factor for the time of everything of one name.
type Scale struct {
	Name   string
	Factor float64
}

// removals say what removing a cause means to traced steps.
var removals = map[string]Change{
	"input":        {Scale: []Scale{{"input", 0}}},
	"sync":         {NoDeviceWaits: true},
	"launch":       {Scale: []Scale{{"cpu operators", 0}, {"launch calls", 0}}},
	"python":       {Scale: []Scale{{"python", 0}}},
	"alloc":        {Scale: []Scale{{"allocation", 0}}},
	"copy":         {Scale: []Scale{{"copy", 0}}},
	"comm-exposed": {Scale: []Scale{{"communication", 0}}},
	"straggler":    {RanksEqual: true},
	"layout":       {Scale: []Scale{{"layout", 0}}},
}

// stepRemovals say what removing a cause means to unprofiled steps, whose time is known by parts.
var stepRemovals = map[string]Change{
	"input":        {Scale: []Scale{{"input", 0}}},
	"python":       {Scale: []Scale{{"python", 0}}},
	"sync":         {Scale: []Scale{{"sync", 0}}},
	"gc":           {Scale: []Scale{{"GC", 0}}},
	"io":           {Scale: []Scale{{"I/O", 0}}},
	"compile":      {Scale: []Scale{{"compile", 0}}},
	"gil":          {Scale: []Scale{{"GIL wait", 0}}},
	"comm-exposed": {Scale: []Scale{{"communication", 0}}},
	"straggler":    {RanksEqual: true},
}

// Causes lists the causes that can be removed from what the session's answers are about.
func (r *Session) Causes() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.removals())), func(cause string) bool { return !r.TakesTime(cause) })
}

func (r *Session) removals() map[string]Change {
	if !r.Unprofiled() {
		return removals
	}
	if !Synchronous(r.s) {
		return stepRemovals
	}
	known := maps.Clone(stepRemovals)
	maps.DeleteFunc(known, func(cause string, _ Change) bool { return Hides(r.s, cause, false) })
	return known
}

// Removal is the change that removes a cause; ok is false where no replay of these steps can know its effect, or where it takes no
// time in them.
func (r *Session) Removal(cause string) (c Change, ok bool) {
	c, ok = r.removals()[cause]
	switch {
	case !ok:
		return c, false
	case c.RanksEqual:
		return c, r.Meets()
	case c.NoDeviceWaits:
		return c, true // whose price can be nothing
	}
	c.Scale = slices.DeleteFunc(slices.Clone(c.Scale), func(s Scale) bool { return r.Time(s.Name) == 0 })
	return c, len(c.Scale) > 0
}

// TakesTime says whether removing a cause changes anything in the steps.
func (r *Session) TakesTime(cause string) bool {
	c, ok := r.Removal(cause)
	return ok && (!c.NoDeviceWaits || r.anyWithin(func(_ *lane, n *node) bool { return n.kind == Return }))
}

// Removable says whether a cause can be removed from such steps at all, whether or not it takes time in these.
func (r *Session) Removable(cause string) bool {
	_, ok := r.removals()[cause]
	return ok
}

// KernelsOf is the change that scales all kernels of some classes, and only those; ok is false where the steps run none.
func (r *Session) KernelsOf(classes []naming.KernelClass, factor float64) (c Change, ok bool) {
	has := r.graph.cells()
	for _, class := range classes {
		name := deviceWord + class.String()
		if of := r.graph.groupOf(name); of.device && has[Compute][of.cat] {
			c.Scale = append(c.Scale, Scale{name, factor})
		}
	}
	return c, len(c.Scale) > 0
}

// And joins two changes.
func (c Change) And(d Change) Change {
	c.Scale = append(slices.Clone(c.Scale), d.Scale...)
	c.NoDeviceWaits = c.NoDeviceWaits || d.NoDeviceWaits
	c.RanksEqual = c.RanksEqual || d.RanksEqual
	if d.Workers != 0 {
		c.Workers = d.Workers
	}
	return c
}

// kindWords are the short names of kinds of nodes.
var kindWords = map[string][]Kind{
	"python": {Host}, "cpu operators": {Op}, "launch calls": {Call}, "allocation": {Alloc}, "data wait": {Input}, "input": {Input, Fetch},
	"gpu compute": {Compute}, "gpu": {Compute, Copy, Communication}, "cpu": {Host, Op, Call, Alloc},
	"communication": {Communication}, "copy": {Copy}, "data preparation": {Fetch},
}

// traceOf is the trace that a lane is of; nil for a process of a live session.
func (g *Graph) traceOf(l *lane) *model.Trace {
	if l.trace >= 0 && l.trace < len(g.traces) {
		return g.traces[l.trace]
	}
	return nil
}

// UnknownName is a name that Scale cannot find in a graph.
type UnknownName struct{ Name string }

func (e *UnknownName) Error() string { return fmt.Sprintf("nothing recorded is called %q", e.Name) }

// durations applies the scales: how long each node takes, ns.
func (g *Graph) durations(scales []Scale) ([]int64, error) {
	dur := make([]int64, len(g.nodes))
	for i := range g.nodes {
		dur[i] = g.nodes[i].dur
	}
	for _, s := range scales {
		if !g.scale(dur, s) {
			return nil, &UnknownName{s.Name}
		}
	}
	return dur, nil
}

// scale multiplies the durations of one name; false where nothing takes time under it. The name of an operator stands for all that
// it calls and launches.
func (g *Graph) scale(dur []int64, s Scale) bool {
	found := false
	named := g.named(s.Name)
	for l := range g.lanes {
		for i := g.lanes[l].first; i < g.lanes[l].end; i++ {
			if n := &g.nodes[i]; n.dur > 0 && named(&g.lanes[l], n) {
				dur[i] = int64(float64(dur[i]) * s.Factor)
				found = true
			}
		}
	}
	return found
}

// named says of nodes whether a name of Scale stands for them.
func (g *Graph) named(name string) func(*lane, *node) bool {
	of := g.groupOf(name)
	if of.kinds == nil && of.cat < 0 {
		return newInside(g, name).has
	}
	return func(_ *lane, n *node) bool { return of.has(n.kind, int(n.cat)) }
}

// group is what a name of Scale stands for: kinds of nodes, or a category (-1: none); neither for operators and kernels.
type group struct {
	kinds  []Kind
	cat    int
	device bool // of the category, kernels only
}

func (of *group) has(kind Kind, cat int) bool {
	if of.device {
		return cat == of.cat && kind == Compute
	}
	return cat == of.cat || slices.Contains(of.kinds, kind)
}

// deviceWord before a category leaves out the operators on the CPU, which share it with the kernels.
const deviceWord = "gpu "

func (g *Graph) groupOf(name string) group {
	name = strings.ToLower(name)
	of := group{kinds: kindWords[name], cat: -1}
	class, device := strings.CutPrefix(name, deviceWord)
	for i, c := range g.categories {
		switch {
		case c == "":
		case strings.EqualFold(c, name):
			of.cat = i
		case of.kinds == nil && device && strings.EqualFold(c, class):
			of.cat, of.device = i, true
		}
	}
	return of
}

// factors are the factors of nodes' durations by kind and category.
type factors [numKinds][256]float64

// factorsOf joins scales; ok is false where one names an operator or a kernel, or something that the graph does not hold.
func (g *Graph) factorsOf(scales []Scale) (of *factors, ok bool) {
	of = &factors{}
	for k := range of {
		for c := range of[k] {
			of[k][c] = 1
		}
	}
	has := g.cells()
	for _, s := range scales {
		group, found := g.groupOf(s.Name), false
		for k := range of {
			for c := range of[k] {
				if group.has(Kind(k), c) {
					of[k][c] *= s.Factor
					found = found || has[k][c]
				}
			}
		}
		if !found {
			return nil, false
		}
	}
	return of, true
}

// cells says which kinds and categories the nodes that take time have.
func (g *Graph) cells() *[numKinds][256]bool {
	if g.has == nil {
		g.has = &[numKinds][256]bool{}
		for i := range g.nodes {
			if n := &g.nodes[i]; n.dur > 0 {
				g.has[n.kind][n.cat] = true
			}
		}
	}
	return g.has
}

// inside finds what belongs to the operators or kernels of one name.
type inside struct {
	g      *Graph
	name   model.Str
	ok     bool
	traces [][]int8 // by trace and event: 0 not yet known, 1 no, 2 yes
}

func newInside(g *Graph, name string) *inside {
	in := &inside{g: g, traces: make([][]int8, len(g.traces))}
	if g.texts != nil {
		in.name, in.ok = g.texts.Find(name)
	}
	return in
}

func (in *inside) has(l *lane, n *node) bool {
	t := in.g.traceOf(l)
	if !in.ok || t == nil || n.event == model.NoEvent {
		return false
	}
	ev := &t.Events
	if ev.Name[n.event] == in.name {
		return true
	}
	from := n.event
	if ev.Kind[from].Device() {
		if from = ev.Op[from]; from == model.NoEvent {
			return false
		}
	}
	known := in.traces[l.trace]
	if known == nil {
		known = make([]int8, ev.Len())
		in.traces[l.trace] = known
	}
	return in.below(ev, from, known)
}

// below says whether an event or one that encloses it has the name, and remembers it for all on the way.
func (in *inside) below(ev *model.Events, id model.EventID, known []int8) bool {
	var way []model.EventID
	found := int8(1)
	for ; id != model.NoEvent; id = ev.Parent[id] {
		if known[id] != 0 {
			found = known[id]
			break
		}
		way = append(way, id)
		if ev.Name[id] == in.name {
			found = 2
			break
		}
		if ev.Parent[id] == id {
			break
		}
	}
	for _, w := range way {
		known[w] = found
	}
	return found == 2
}
