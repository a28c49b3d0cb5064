package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// Times are the results of one replay: when each node began and ended, ns from the graph's origin, and the node whose end it
// waited for last (-1: nothing).
type Times struct {
	Start, End []int64
	by         []int32
}

// Replay computes all times anew under a change; the zero Change gives the recorded program. It fails where the change names
// what the graph does not hold.
func (g *Graph) Replay(c Change) (*Times, error) {
	dur, err := g.durations(c.Scale)
	if err != nil {
		return nil, err
	}
	return g.run(dur, c), nil
}

// run computes the times with the given durations, ns by node.
func (g *Graph) run(dur []int64, c Change) *Times {
	t := &Times{Start: make([]int64, len(g.nodes)), End: make([]int64, len(g.nodes)), by: make([]int32, len(g.nodes))}
	r := running{g: g, c: c, dur: dur, end: t.End}
	for _, i := range g.order {
		t.Start[i], t.by[i] = r.begin(i)
		t.End[i] = t.Start[i] + dur[i]
	}
	return t
}

// ends is run for a change that names kinds only, without more room than one number a node: when each ends.
func (g *Graph) ends(end []int64, c Change, of *factors) {
	r := running{g: g, c: c, of: of, end: end}
	for _, i := range g.order {
		start, _ := r.begin(i)
		end[i] = start + r.durOf(i)
	}
}

// running is a replay under way.
type running struct {
	g   *Graph
	c   Change
	dur []int64 // by node; nil: as recorded, times of
	of  *factors
	end []int64 // of the nodes that are done
}

func (r *running) durOf(i int32) int64 {
	if r.dur != nil {
		return r.dur[i]
	}
	n := &r.g.nodes[i]
	if f := r.of[n.kind][n.cat]; f != 1 {
		return int64(float64(n.dur) * f)
	}
	return n.dur
}

// begin is when a node begins, all that it waits for being done, and the node that it waited for last (-1: nothing).
func (r *running) begin(i int32) (start int64, by int32) {
	g := r.g
	n := &g.nodes[i]
	by = -1
	if n.prev >= 0 {
		start, by = r.end[n.prev]+int64(n.lag), n.prev
	}
	switch {
	case n.kind == Return && r.c.NoDeviceWaits:
	case n.kind == Meet && r.c.RanksEqual:
		start, by = r.middle(i)
	default:
		for k := g.first[i]; k < g.first[i+1]; k++ {
			e := &g.edges[k]
			if e.from == i {
				continue
			}
			if at := r.release(e); at > start || by < 0 {
				start, by = at, e.from
			}
		}
	}
	if by < 0 {
		start = n.at
	}
	return start, by
}

// release is when an edge lets its node begin.
func (r *running) release(e *edge) int64 {
	at := r.end[e.from] + int64(e.lag)
	if e.start {
		at -= r.durOf(e.from)
	}
	return at
}

// middle is when the rank in the middle has arrived at a collective, the earlier one of two.
func (r *running) middle(i int32) (at int64, by int32) {
	g := r.g
	edges := slices.Clone(g.edges[g.first[i]:g.first[i+1]])
	if len(edges) == 0 {
		return g.nodes[i].at, -1
	}
	slices.SortStableFunc(edges, func(x, y edge) int { return cmp.Compare(r.release(&x), r.release(&y)) })
	e := &edges[(len(edges)-1)/2]
	return r.release(e), e.from
}

// Step is one step, as recorded and replayed.
type Step struct {
	Number   int64
	Trace    int
	Recorded model.Dur
	Replayed model.Dur
	// Slack is the time on the chain of waits that ends the step which nothing explains, as recorded.
	Slack  model.Dur
	window int
}

// Steps gives each step's time in a replay. A step lasts until the device work that was launched in it has ended, and begins no
// earlier than the one before it ended.
func (g *Graph) Steps(t *Times) []Step { return g.stepsOf(t.End) }

// stepsOf is Steps by the nodes' ends.
func (g *Graph) stepsOf(ends []int64) []Step {
	out := make([]Step, 0, len(g.windows))
	last, trace := int64(0), -1
	for i := range g.windows {
		w := &g.windows[i]
		start, end := w.fromAt, endOf(ends, w.to, w.toAt)
		if w.from >= 0 {
			start = ends[w.from]
		}
		if w.tail >= 0 {
			end = max(end, ends[w.tail])
		}
		if w.trace == trace {
			start = max(start, last)
		}
		end = max(end, start)
		last, trace = end, w.trace
		if w.lead {
			continue
		}
		out = append(out, Step{window: i, Number: w.number, Trace: w.trace, Recorded: model.Dur(w.end - w.start),
			Replayed: model.Dur(end - start)})
	}
	return out
}

func endOf(ends []int64, n int32, otherwise int64) int64 {
	if n < 0 {
		return otherwise
	}
	return ends[n]
}

// Explain fills the steps' slack: what is left, on the chain of waits that ends each step, between the recorded start of an
// activity and the recorded end of all that it waits for, lags included.
func (g *Graph) Explain(steps []Step) {
	for i := range steps {
		w := &g.windows[steps[i].window]
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
