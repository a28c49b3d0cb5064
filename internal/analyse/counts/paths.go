package counts

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// pathTree is the tree of which operators and annotations call which, as far as it was walked. Events must be seen in their order, so that
// what encloses one comes before it.
type pathTree struct {
	ev    *model.Events
	at    []int32 // by event: the node that it is, or that it lies in; 0 is the root
	nodes []pathNode
	index map[pathStep]int32
}

type pathStep struct {
	parent int32
	name   model.Str
}

type pathNode struct {
	pathStep
	depth int32
	calls int64
	time  model.Dur
}

// deepestPath bounds a path; what lies deeper counts for its last node.
const deepestPath = 64

func newPathTree(ev *model.Events) pathTree {
	return pathTree{ev: ev, at: make([]int32, ev.Len()), nodes: make([]pathNode, 1), index: map[pathStep]int32{}}
}

// see finds an event's node.
func (p *pathTree) see(id model.EventID) {
	around := int32(0)
	if parent := p.ev.Parent[id]; parent != model.NoEvent {
		around = p.at[parent]
	}
	if k := p.ev.Kind[id]; k != model.KindOp && k != model.KindAnnotation || p.nodes[around].depth >= deepestPath {
		p.at[id] = around
		return
	}
	step := pathStep{around, p.ev.Name[id]}
	node, known := p.index[step]
	if !known {
		node = int32(len(p.nodes))
		p.index[step] = node
		p.nodes = append(p.nodes, pathNode{pathStep: step, depth: p.nodes[around].depth + 1})
	}
	p.at[id] = node
}

// note books an event that was seen.
func (p *pathTree) note(id model.EventID) {
	n := &p.nodes[p.at[id]]
	n.calls++
	n.time += p.ev.Dur[id]
}

// pathSeparator stands between the names of a path: no name holds it.
const pathSeparator = "\x00"

// callPaths are, by operator, the paths to it with their time.
type callPaths map[string]map[string]model.Dur

// callPaths are the paths of a trace's operators; marks of single steps are no part of them.
func (c *stepCounting) callPaths() callPaths {
	out := callPaths{}
	texts := make([]string, len(c.tree.nodes)) // of the path to each node, itself included
	for i := 1; i < len(c.tree.nodes); i++ {
		n := &c.tree.nodes[i]
		name := c.s.Text(n.name)
		texts[i] = texts[n.parent]
		if n.calls > 0 {
			if out[name] == nil {
				out[name] = map[string]model.Dur{}
			}
			out[name][texts[n.parent]] += n.time + 1
		}
		if naming.ClassifyEvent(name) != naming.EventStep {
			texts[i] += name + pathSeparator
		}
	}
	return out
}

func (p *callPaths) merge(o callPaths) {
	if *p == nil {
		*p = callPaths{}
	}
	for name, paths := range o {
		if (*p)[name] == nil {
			(*p)[name] = map[string]model.Dur{}
		}
		for path, time := range paths {
			(*p)[name][path] += time
		}
	}
}

func (p callPaths) kept(keep func(string) string) callPaths {
	out := callPaths{}
	for name, paths := range p {
		own := make(map[string]model.Dur, len(paths))
		for path, time := range paths {
			own[keep(path)] = time
		}
		out[keep(name)] = own
	}
	return out
}

// most is the path to an operator on which it took most time.
func (p callPaths) most(name string) []string {
	paths := p[name]
	if len(paths) == 0 {
		return nil
	}
	list := make([]string, 0, len(paths))
	for path := range paths {
		list = append(list, path)
	}
	best := slices.MinFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(paths[b], paths[a]), strings.Compare(a, b)) })
	if best == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(best, pathSeparator), pathSeparator)
}
