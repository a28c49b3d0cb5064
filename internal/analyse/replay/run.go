package replay

import "bottleneck/internal/model"

// Times are the results of one replay: when each node began and ended, ns from the graph's origin, and the node whose end it
// waited for last (-1: nothing).
type Times struct {
	Start, End []int64
	by         []int32
}

// Run computes all times anew. dur gives how long each node takes, ns by node; nil: as recorded.
func (g *Graph) Run(dur []int64) *Times {
	t := &Times{Start: make([]int64, len(g.nodes)), End: make([]int64, len(g.nodes)), by: make([]int32, len(g.nodes))}
	for _, i := range g.order {
		n := &g.nodes[i]
		start, by := int64(0), int32(-1)
		if n.prev >= 0 {
			start, by = t.End[n.prev]+int64(n.lag), n.prev
		}
		released := n.prev >= 0
		for k := g.first[i]; k < g.first[i+1]; k++ {
			e := &g.edges[k]
			if e.from == i {
				continue
			}
			at := t.End[e.from]
			if e.start {
				at = t.Start[e.from]
			}
			if at += int64(e.lag); at > start || !released {
				start, by, released = at, e.from, true
			}
		}
		if !released {
			start = n.at
		}
		d := n.dur
		if dur != nil {
			d = dur[i]
		}
		t.Start[i], t.End[i], t.by[i] = start, start+d, by
	}
	return t
}

// Step is one step, as recorded and replayed.
type Step struct {
	Number   int64
	Trace    int
	Recorded model.Dur
	Replayed model.Dur
	// Slack is the time on the chain of waits that ends the step which nothing explains, as recorded.
	Slack model.Dur
}

// Steps gives each step's time in a replay. A step lasts until the device work that was launched in it has ended, and begins no
// earlier than the one before it ended.
func (g *Graph) Steps(t *Times) []Step {
	out := make([]Step, 0, len(g.windows))
	last, trace := int64(0), -1
	for i := range g.windows {
		w := &g.windows[i]
		start, end := w.fromAt, t.end(w.to, w.toAt)
		if w.from >= 0 {
			start = t.End[w.from]
		}
		if w.tail >= 0 {
			end = max(end, t.End[w.tail])
		}
		if w.trace == trace {
			start = max(start, last)
		}
		end = max(end, start)
		last, trace = end, w.trace
		out = append(out, Step{Number: w.number, Trace: w.trace, Recorded: model.Dur(w.end - w.start), Replayed: model.Dur(end - start)})
	}
	return out
}

func (t *Times) end(n int32, otherwise int64) int64 {
	if n < 0 {
		return otherwise
	}
	return t.End[n]
}

// Explain fills the steps' slack: what is left, on the chain of waits that ends each step, between the recorded start of an
// activity and the recorded end of all that it waits for, lags included.
func (g *Graph) Explain(steps []Step) {
	for i := range steps {
		w := &g.windows[i]
		at := w.to
		if w.tail >= 0 && (at < 0 || g.traced(w.tail) > w.toAt) {
			at = w.tail
		}
		for n := 0; at >= 0 && g.traced(at) > w.start && n <= len(g.nodes); n++ {
			late, by := g.residual(at)
			steps[i].Slack += model.Dur(min(max(late, 0), max(g.nodes[at].at-w.start, 0)))
			at = by
		}
	}
}

// residual is how much later a node began than what it waited for explains, by recorded times, and what it waited for last.
func (g *Graph) residual(i int32) (late int64, by int32) {
	n := &g.nodes[i]
	release := int64(0)
	by = -1
	if n.prev >= 0 {
		release, by = g.traced(n.prev)+int64(n.lag), n.prev
	}
	for _, e := range g.edges[g.first[i]:g.first[i+1]] {
		if e.from == i {
			continue
		}
		at := g.traced(e.from)
		if e.start {
			at = g.nodes[e.from].at
		}
		if at += int64(e.lag); at > release || by < 0 {
			release, by = at, e.from
		}
	}
	if by < 0 {
		return 0, by
	}
	return n.at - release, by
}
