package page

import (
	"cmp"
	"fmt"
	"slices"

	"bottleneck/internal/units"
)

// Flame is a tree of stacks, laid out: each node is a box that begins at Start, is Total wide and stands Depth rows below the root.
// Nodes are in order of depth first, largest child first, so that a node's parent stands before it. Times are microseconds; where Unit says
// so they are bytes instead.
type Flame struct {
	Title  string    `json:"title"`
	Unit   string    `json:"unit"` // us or bytes
	Aside  string    `json:"aside"`
	Names  []string  `json:"names"`  // of frames
	Places []string  `json:"places"` // file:line of frames, "" unknown
	Frame  []int     `json:"frame"`  // of nodes: row of Names
	Parent []int     `json:"parent"` // -1 for the root
	Depth  []int     `json:"depth"`
	Start  []float64 `json:"start_us"`
	Total  []float64 `json:"total_us"`
	Self   []float64 `json:"self_us"`
	// Small is the time of boxes below which nothing is told apart: they are one box "(n smaller)" in their caller.
	Small float64 `json:"small_us"`
	// Before is what a node took in the session that this one is compared with; absent without one.
	Before []float64 `json:"before_us,omitempty"`
}

// frame is what makes boxes the same.
type frame struct{ name, place string }

// tree grows stack by stack.
type tree struct {
	frames   map[frame]int32
	list     []frame
	nodes    []treeNode
	children map[[2]int32]int32 // by node and frame
	unit     string             // unitTime, of nanoseconds, or unitBytes
}

type treeNode struct {
	frame, parent int32
	self, total   float64
	before        float64 // total in another session
}

const (
	// maxNodes bounds what the page draws: boxes of less than total ÷ maxNodes cannot be seen before zooming far.
	maxNodes = 20_000
	// maxDepth bounds a stack; deeper frames count as their caller's own time.
	maxDepth = 300
)

func newTree(root string) *tree {
	t := &tree{frames: map[frame]int32{}, children: map[[2]int32]int32{}, unit: unitTime}
	t.nodes = []treeNode{{frame: t.frameOf(frame{name: root}), parent: -1}}
	return t
}

func (t *tree) frameOf(f frame) int32 {
	i, ok := t.frames[f]
	if !ok {
		i = int32(len(t.list))
		t.frames[f] = i
		t.list = append(t.list, f)
	}
	return i
}

// child is the node of a frame below another one.
func (t *tree) child(node int32, f frame) int32 { return t.childOf(node, t.frameOf(f)) }

func (t *tree) childOf(node, f int32) int32 {
	key := [2]int32{node, f}
	c, ok := t.children[key]
	if !ok {
		c = int32(len(t.nodes))
		t.nodes = append(t.nodes, treeNode{frame: f, parent: node})
		t.children[key] = c
	}
	return c
}

// sum fills in total times; children stand behind their parents.
func (t *tree) sum() {
	for i := range t.nodes {
		t.nodes[i].total = t.nodes[i].self
	}
	for i := len(t.nodes) - 1; i > 0; i-- {
		t.nodes[t.nodes[i].parent].total += t.nodes[i].total
	}
}

// inverted is the tree with every stack turned round: below the root stands what had the time itself, below that its callers.
func (t *tree) inverted() *tree {
	out := newTree(t.list[t.nodes[0].frame].name)
	out.list, out.frames, out.unit = t.list, t.frames, t.unit
	for i := range t.nodes {
		if t.nodes[i].self <= 0 {
			continue
		}
		node, depth := int32(0), 0
		for k := int32(i); k > 0 && depth < maxDepth; k = t.nodes[k].parent {
			node, depth = out.childOf(node, t.nodes[k].frame), depth+1
		}
		out.nodes[node].self += t.nodes[i].self // at the end of the chain: every box of it is that time
	}
	out.sum()
	return out
}

// layout places the boxes. Children too small to be seen become one box, so that the parts of every box sum to it.
func (t *tree) layout(title, aside string) *Flame { return t.laidOut(title, aside, false) }

func (t *tree) laidOut(title, aside string, compared bool) *Flame {
	out := &Flame{Title: title, Unit: t.unit, Aside: aside, Names: []string{}, Places: []string{},
		Frame: []int{}, Parent: []int{}, Depth: []int{},
		Start: []float64{}, Total: []float64{}, Self: []float64{}}
	below := make([][]int32, len(t.nodes))
	for i := 1; i < len(t.nodes); i++ {
		below[t.nodes[i].parent] = append(below[t.nodes[i].parent], int32(i))
	}
	l := layouter{tree: t, out: out, below: below, names: map[frame]int{}, compared: compared, scale: 1e3}
	if t.unit == unitBytes {
		l.scale = 1
	}
	out.Small = t.nodes[0].total / maxNodes
	l.place(0, -1, 0, 0)
	return out
}

type layouter struct {
	tree  *tree
	out   *Flame
	below [][]int32
	names map[frame]int
	// compared says that nodes know their time before.
	compared bool
	scale    float64 // what values of the tree are divided by
}

// place adds a node and all beneath it.
func (l *layouter) place(node int32, parent, depth int, start float64) {
	n := &l.tree.nodes[node]
	at := l.box(l.tree.list[n.frame], parent, depth, start, n.total, n.self)
	if l.compared {
		l.out.Before = append(l.out.Before, n.before/l.scale)
	}
	children := l.below[node]
	slices.SortStableFunc(children, func(a, b int32) int { return cmp.Compare(l.tree.nodes[b].total, l.tree.nodes[a].total) })
	small, smaller, before := 0.0, 0, 0.0
	for _, c := range children {
		total := l.tree.nodes[c].total
		if total < l.out.Small || depth >= maxDepth {
			small, smaller, before = small+total, smaller+1, before+l.tree.nodes[c].before
			continue
		}
		l.place(c, at, depth+1, start)
		start += total
	}
	if small > 0 {
		l.box(frame{name: fmt.Sprintf("(%s smaller)", units.Count(int64(smaller)))}, at, depth+1, start, small, small)
		if l.compared {
			l.out.Before = append(l.out.Before, before/l.scale)
		}
	}
}

func (l *layouter) box(f frame, parent, depth int, start, total, self float64) int {
	name, ok := l.names[f]
	if !ok {
		name = len(l.out.Names)
		l.names[f] = name
		l.out.Names = append(l.out.Names, f.name)
		l.out.Places = append(l.out.Places, f.place)
	}
	o := l.out
	o.Frame, o.Parent, o.Depth = append(o.Frame, name), append(o.Parent, parent), append(o.Depth, depth)
	o.Start, o.Total, o.Self = append(o.Start, start/l.scale), append(o.Total, total/l.scale), append(o.Self, self/l.scale)
	return len(o.Frame) - 1
}
