package replay

import (
	"bottleneck/internal/model"
)

// Kind is what a node of the graph stands for.
type Kind uint8

// Kinds of nodes. The last four take no time: they are where something begins or goes on.
const (
	Host          Kind = iota // a thread between operators: Python, or code that the profiler does not see
	Op                        // inside an operator, outside of calls of the device's runtime
	Call                      // a call of the device's runtime that does not wait for the device
	Alloc                     // a call that allocates or frees device memory
	Input                     // a DataLoader's __next__
	Compute                   // a kernel
	Communication             // a collective, from the arrival of the last rank where that is known
	Copy                      // a copy or set on the device
	Fetch                     // a DataLoader worker fetches a batch
	Other                     // a part of an unprofiled step that Node.Part names
	Return                    // a call that waited for the device goes on
	Join                      // a thread that waited for another one goes on
	Begin                     // a thread is given work, or a rank arrives at a collective
	Meet                      // the last rank has arrived at a collective
	numKinds
)

var kindNames = [numKinds]string{"Python and untraced code", "CPU operators", "launch calls", "allocation", "data wait", "GPU compute",
	"communication", "copy", "data preparation", "other", "device wait", "thread wait", "hand-over", "meeting of ranks"}

func (k Kind) String() string { return kindNames[min(k, numKinds-1)] }

// node is a stretch of one lane. Its start is when all that it waits for is done.
type node struct {
	at    int64 // traced start, ns from the graph's origin
	dur   int64 // ns; waiting excluded
	event model.EventID
	prev  int32 // node of the same lane that it follows, -1: none
	lag   int32 // ns after prev's end
	kind  Kind
	cat   uint8 // category within the kind: index of Graph.categories
}

// edge says that a node waits for another one.
type edge struct {
	to, from int32
	lag      int32
	start    bool // for its start instead of its end
}

// lane is a thread or a stream of one trace, or a process of a live session; its nodes follow one another in nodes.
type lane struct {
	trace      int
	id         model.LaneID
	first, end int32
	rank       int
}

// window is one step: it lasts from the end of node from (-1: the origin) to the latest end of its tails.
type window struct {
	number     int64
	from       int32
	fromAt     int64 // traced
	to         int32
	toAt       int64
	tail       int32 // the device work launched in it that ends last; -1
	trace      int
	start, end int64 // traced, with the device's tail
	lead       bool  // it only leads in, and no answer is about it
}

// Graph is what waits for what, in one trace, in the traces of several ranks, or in a live session's unprofiled steps.
type Graph struct {
	texts      *model.Strings
	traces     []*model.Trace
	origin     model.Time
	nodes      []node
	lanes      []lane
	edges      []edge  // sorted by node once built
	first      []int32 // edges of node i are edges[first[i]:first[i+1]]
	order      []int32 // nodes, each after all that it waits for
	windows    []window
	categories []string
	known      *nameTable           // what names of the session stand for, while the graph is built
	has        *[numKinds][256]bool // see cells
	account    bool                 // of unprofiled steps: their parts are those of the driving thread
	// Forced counts waits that contradict one another (clock errors) and were dropped.
	Forced int
	// Works counts pieces of device work, Orphans those of them whose launching call the trace does not hold: of a trace that
	// has calls and many orphans parts are missing, and what the rest waited for cannot be known.
	Works, Orphans int
}

// Incomplete says that a trace lacks half or more of the calls that launched its device work, though it has some.
func (g *Graph) Incomplete() bool {
	return g.Orphans > 0 && g.Orphans < g.Works && 2*g.Orphans >= g.Works
}

// add appends a node and gives its number.
func (g *Graph) add(n node) int32 {
	g.nodes = append(g.nodes, n)
	return int32(len(g.nodes) - 1)
}

// wait adds an edge, unless an end is missing.
func (g *Graph) wait(to, from int32, lag int64, start bool) {
	if to < 0 || from < 0 || to == from {
		return
	}
	g.edges = append(g.edges, edge{to, from, clamp32(lag), start})
}

func clamp32(v int64) int32 { return int32(min(max(v, -1<<31), 1<<31-1)) }

// close sorts the edges by node and finds an order in which to compute them.
func (g *Graph) close() {
	g.known = nil
	g.indexEdges()
	g.sort()
}

func (g *Graph) indexEdges() {
	g.first = make([]int32, len(g.nodes)+1)
	for _, e := range g.edges {
		g.first[e.to+1]++
	}
	for i := range g.nodes {
		g.first[i+1] += g.first[i]
	}
	sorted, next := make([]edge, len(g.edges)), append([]int32{}, g.first...)
	for _, e := range g.edges {
		sorted[next[e.to]] = e
		next[e.to]++
	}
	g.edges = sorted
}

// sort orders the nodes lane by lane: a lane goes on until a node waits for one of another lane that is not done. Where all
// lanes wait, the earliest node by traced time drops the waits that cannot end.
func (g *Graph) sort() {
	g.order = make([]int32, 0, len(g.nodes))
	done := make([]progress, len(g.nodes))
	cursor := make([]int32, len(g.lanes))
	waiting := map[int32][]int32{} // by node that is awaited: lanes
	var ready []int32
	for i := range g.lanes {
		cursor[i] = g.lanes[i].first
		ready = append(ready, int32(i))
	}
	for len(g.order) < len(g.nodes) {
		if len(ready) == 0 {
			ready = append(ready, g.force(cursor, done))
		}
		l := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for cursor[l] < g.lanes[l].end {
			n := cursor[l]
			if missing := g.missing(n, done); missing >= 0 {
				waiting[missing], done[missing] = append(waiting[missing], l), nodeAwaited
				break
			}
			g.order = append(g.order, n)
			cursor[l]++
			if done[n] == nodeAwaited {
				ready = append(ready, waiting[n]...)
				delete(waiting, n)
			}
			done[n] = nodeDone
		}
	}
}

// progress is how far the ordering of the nodes has come with one of them.
type progress uint8

const (
	nodeOpen progress = iota
	nodeAwaited
	nodeDone
)

// missing is a node that n waits for and that is not done, -1: none.
func (g *Graph) missing(n int32, done []progress) int32 {
	for _, e := range g.edges[g.first[n]:g.first[n+1]] {
		if done[e.from] != nodeDone && e.from != n {
			return e.from
		}
	}
	return -1
}

// force drops the waits of a node that cannot end and gives its lane: the earliest of those that wait for something later,
// which is where a circle closes.
func (g *Graph) force(cursor []int32, done []progress) int32 {
	best, circular := int32(-1), false
	for l := range g.lanes {
		c := cursor[l]
		if c >= g.lanes[l].end {
			continue
		}
		later := false
		for _, e := range g.edges[g.first[c]:g.first[c+1]] {
			later = later || done[e.from] != nodeDone && g.nodes[e.from].at >= g.nodes[c].at
		}
		if best < 0 || later && !circular || later == circular && g.nodes[c].at < g.nodes[cursor[best]].at {
			best, circular = int32(l), later
		}
	}
	n := cursor[best]
	for i := g.first[n]; i < g.first[n+1]; i++ {
		if e := &g.edges[i]; done[e.from] != nodeDone {
			e.from = e.to // a wait for itself counts as none
			g.Forced++
		}
	}
	return best
}
