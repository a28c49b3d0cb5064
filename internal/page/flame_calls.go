package page

import (
	"bottleneck/internal/model"
	"path"
	"slices"
	"strings"
)

// callTree is a tree of exact counts, which know who called whom but not by which path: a function's time is shared among its callers by
// what each contributed, as snakeviz does; where functions run within themselves that is an estimate. nil where nothing was counted with
// its callers.
func callTree(s *model.Session) *tree {
	t := newTree("all calls")
	var counted []*model.Calls
	for _, c := range s.Calls {
		if slices.ContainsFunc(c.Functions, func(f model.CallFunction) bool { return len(f.Callers) > 0 }) {
			counted = append(counted, c)
		}
	}
	for _, c := range counted {
		root := int32(0)
		if len(counted) > 1 {
			root = t.child(0, frame{name: callsName(s, c)})
		}
		newCallGraph(t, c).add(root)
	}
	t.sum()
	if t.nodes[0].total <= 0 {
		return nil
	}
	return t
}

func callsName(s *model.Session, c *model.Calls) string {
	switch {
	case c.Process >= 0 && c.Process < len(s.Processes):
		return processName(s.Processes[c.Process])
	case c.Input >= 0 && c.Input < len(s.Inputs):
		return path.Base(strings.ReplaceAll(s.Inputs[c.Input].Path, `\`, "/"))
	}
	return "calls"
}

// callGraph unfolds the graph of who called whom.
type callGraph struct {
	t       *tree
	c       *model.Calls
	callees [][]callEdge
	least   float64 // ns below which nothing is unfolded
}

type callEdge struct {
	to int32
	ns float64
}

// callCells bounds what is unfolded: what takes less than a part of so many is one box.
const callCells = 3000

// maxCallDepth bounds the path.
const maxCallDepth = 100

func newCallGraph(t *tree, c *model.Calls) *callGraph {
	g := &callGraph{t: t, c: c, callees: make([][]callEdge, len(c.Functions)), least: float64(c.Total()) / callCells}
	for i := range c.Functions {
		for _, e := range c.Functions[i].Callers {
			if int(e.Caller) != i && e.Caller >= 0 && int(e.Caller) < len(c.Functions) && e.Cumulative > 0 {
				g.callees[e.Caller] = append(g.callees[e.Caller], callEdge{int32(i), float64(e.Cumulative)})
			}
		}
	}
	return g
}

// add unfolds from what callers do not explain of each function: nobody called it, or what runs the program also runs modules within it.
func (g *callGraph) add(root int32) {
	longest, found := 0, false
	for i := range g.c.Functions {
		f := &g.c.Functions[i]
		if f.Cumulative > g.c.Functions[longest].Cumulative {
			longest = i
		}
		rest := float64(f.Cumulative)
		for _, e := range f.Callers {
			if int(e.Caller) != i {
				rest -= float64(e.Cumulative)
			}
		}
		if rest > g.least {
			found = true
			g.unfold(root, int32(i), rest, 0)
		}
	}
	if !found {
		g.unfold(root, int32(longest), float64(g.c.Functions[longest].Cumulative), 0)
	}
}

// unfold adds a function that takes so long on this path, and what it calls.
func (g *callGraph) unfold(parent, id int32, ns float64, depth int) {
	f := &g.c.Functions[id]
	node := g.t.child(parent, callFrame(f))
	below := 0.0
	if ns >= g.least && depth < maxCallDepth && f.Cumulative > 0 {
		part, sum := ns/float64(f.Cumulative), 0.0
		for _, e := range g.callees[id] {
			sum += e.ns * part
		}
		if sum > ns { // of a function that runs within itself, what its inner calls call counts beside them
			part *= ns / sum
		}
		for _, e := range g.callees[id] {
			below += e.ns * part
			g.unfold(node, e.to, e.ns*part, depth+1)
		}
	}
	g.t.nodes[node].self += max(ns-below, 0)
}

func callFrame(f *model.CallFunction) frame {
	if f.Line == 0 {
		return frame{name: f.Name}
	}
	return frame{f.Name, placeText(f.File, int(f.Line))}
}
