package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// within says of each node whether part of it lies in the steps that answers are about: what begins and ends outside of them no
// question can change.
func (r *Session) within() []bool {
	if r.inside != nil {
		return r.inside
	}
	g := r.graph
	asked := map[int][]*window{}
	for i := range g.windows {
		if w := &g.windows[i]; w.asked(r.only) {
			asked[w.trace] = append(asked[w.trace], w)
		}
	}
	r.inside = make([]bool, len(g.nodes))
	for i := range g.lanes {
		l := &g.lanes[i]
		windows := asked[max(l.trace, 0)] // a live session's processes have none, and all windows count as of the first
		for n := l.first; n < l.end; n++ {
			k, _ := slices.BinarySearchFunc(windows, g.nodes[n].at+1, func(w *window, at int64) int { return cmp.Compare(w.start, at) })
			r.inside[n] = k > 0 && windows[k-1].end > g.nodes[n].at || k < len(windows) && windows[k].start < g.traced(n)
		}
	}
	return r.inside
}

// anyWithin says whether a node in the steps is such a one.
func (r *Session) anyWithin(such func(*lane, *node) bool) bool {
	return r.eachWithin(func(l *lane, n *node) bool { return !such(l, n) })
}

// eachWithin goes through the nodes in the steps until one says false, and says whether one did.
func (r *Session) eachWithin(yield func(*lane, *node) bool) (stopped bool) {
	g, inside := r.graph, r.within()
	for i := range g.lanes {
		for n := g.lanes[i].first; n < g.lanes[i].end; n++ {
			if inside[n] && !yield(&g.lanes[i], &g.nodes[n]) {
				return true
			}
		}
	}
	return false
}

// Time is what the steps spend in all that a name of Change.Scale stands for, ns over the steps and all threads, streams and workers; 0
// where nothing takes time under it.
func (r *Session) Time(name string) float64 { return r.timeOf(name, anyTrace) }

// anyTrace stands for all traces.
const anyTrace = -1

// timeOf is Time of one trace.
func (r *Session) timeOf(name string, trace int) float64 {
	sum, named := 0.0, r.graph.named(name)
	r.eachWithin(func(l *lane, n *node) bool {
		if n.dur > 0 && (trace == anyTrace || max(l.trace, 0) == trace) && named(l, n) {
			sum += float64(n.dur)
		}
		return true
	})
	return sum
}

// timeNamed is the time in all that a change makes longer or shorter, of one trace or any.
func (r *Session) timeNamed(c Change, trace int) float64 {
	sum := 0.0
	for _, s := range c.Scale {
		if s.Factor != 1 {
			sum += r.timeOf(s.Name, trace)
		}
	}
	return sum
}

// touchesNothing gives a name of a change under which the steps spend no time, if there is one.
func (r *Session) touchesNothing(c Change) (name string, ok bool) {
	for _, s := range c.Scale {
		if r.Time(s.Name) == 0 {
			return s.Name, true
		}
	}
	return "", false
}

// Fetches says whether the steps wait for batches whose preparation was recorded, by workers or in the process itself: without, no
// replay knows what another number of workers would do.
func (r *Session) Fetches() bool {
	return r.Unprofiled() && r.anyWithin(func(_ *lane, n *node) bool { return n.kind == Fetch && n.dur > 0 })
}

// Kinds lists the kinds of activity that Change.Scale can name.
func (r *Session) Kinds() []string {
	kinds, _ := r.names()
	return kinds
}

// Names lists all that Change.Scale can name: kinds, operators and kernels.
func (r *Session) Names() []string {
	kinds, names := r.names()
	return append(kinds, names...)
}

// names lists the kinds that take time in the steps, and the operators and kernels.
func (r *Session) names() (kindNames, names []string) {
	g := r.graph
	kinds, cats, events := [numKinds]bool{}, [256]bool{}, map[model.Str]bool{}
	r.eachWithin(func(l *lane, n *node) bool {
		if n.dur <= 0 {
			return true
		}
		kinds[n.kind], cats[n.cat] = true, true
		if t := g.traceOf(l); t != nil && n.event != model.NoEvent && (n.kind == Op || n.kind == Compute || n.kind == Communication) {
			events[t.Events.Name[n.event]] = true
		}
		return true
	})
	for word, list := range kindWords {
		if slices.ContainsFunc(list, func(k Kind) bool { return kinds[k] }) {
			kindNames = append(kindNames, word)
		}
	}
	for i, c := range g.categories {
		if cats[i] && c != "" {
			kindNames = append(kindNames, c)
		}
	}
	for s := range events {
		names = append(names, g.texts.Text(s))
	}
	slices.Sort(names)
	slices.Sort(kindNames)
	return slices.Compact(kindNames), names
}
