package replay

import (
	"slices"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/model"
)

// FromTraces makes one graph of the traces of several ranks: a collective that all of them hold begins everywhere when the
// last rank has arrived. Traces that share no collectives stay side by side. nil where they hold nothing that lasts.
func FromTraces(traces []*model.Trace, s *model.Strings) *Graph { return fromTraces(traces, s, 0) }

// fromTraces is FromTraces of the last steps of a single trace, 0: of all. Several ranks are always replayed whole: their last steps
// need not be the same.
func fromTraces(traces []*model.Trace, s *model.Strings, last int) *Graph {
	if len(traces) == 0 {
		return nil
	}
	if len(traces) == 1 {
		return fromTrace(traces[0], s, last)
	}
	calls, clocks := collectives.MatchedCalls(traces, s)
	g := &Graph{texts: s, traces: traces, origin: traces[0].From}
	builders := make([]*builder, len(traces))
	for i, t := range traces {
		builders[i] = newBuilder(g, t, s, i, int64(clocks[i].Offset), 0)
	}
	g.room(builders...)
	for i := range builders {
		groups := map[model.EventID]int32{}
		for k, rows := range calls {
			groups[rows[i]] = int32(k)
		}
		builders[i].build(groups)
	}
	if len(g.nodes) == 0 {
		return nil
	}
	g.meet(calls, builders)
	g.close()
	for _, b := range builders {
		b.window()
	}
	return g
}

// meet lets the ranks of each collective call wait for one another. What a rank spends in the call after the last arrival is
// the transfer.
func (g *Graph) meet(calls [][]model.EventID, builders []*builder) {
	if len(calls) == 0 {
		return
	}
	type call struct {
		last int64
		rows []model.EventID
	}
	list := make([]call, len(calls))
	for k, rows := range calls {
		list[k] = call{-1 << 62, rows}
		for i, id := range rows {
			list[k].last = max(list[k].last, g.nodes[builders[i].beginOf[id]].at)
		}
	}
	slices.SortStableFunc(list, func(x, y call) int { return int(min(max(x.last-y.last, -1), 1)) })
	l := int32(len(g.lanes))
	g.lanes = append(g.lanes, laneNode(-1, model.NoLane, int32(len(g.nodes)), model.NoRank))
	for _, c := range list {
		hub := g.add(node{at: c.last, event: model.NoEvent, prev: -1, kind: Meet})
		for i, id := range c.rows {
			b := builders[i]
			arrival, transfer := b.beginOf[id], b.nodeOf[id]
			g.wait(hub, arrival, 0, false)
			g.wait(transfer, hub, 0, false)
			end := g.traced(transfer)
			n := &g.nodes[transfer]
			n.at = min(max(c.last, n.at), end)
			n.dur = end - n.at
		}
	}
	g.lanes[l].end = int32(len(g.nodes))
}
