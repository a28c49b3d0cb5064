package replay

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// nameTable remembers what the names of a session stand for.
type nameTable struct {
	g     *Graph
	s     *model.Strings
	ops   []uint8 // category + 1 by name
	works []uint8
	calls []callClass
	notes []uint8 // of annotations: 1 other, 2 DataLoader, 3 step
}

func newNameTable(g *Graph, s *model.Strings) *nameTable {
	if len(g.categories) == 0 {
		g.categories = []string{""}
	}
	return &nameTable{g: g, s: s, ops: make([]uint8, s.Len()), works: make([]uint8, s.Len()), calls: make([]callClass, s.Len()),
		notes: make([]uint8, s.Len())}
}

// category is the number of a category's name.
func (g *Graph) category(name string) uint8 {
	for i, c := range g.categories {
		if c == name {
			return uint8(i)
		}
	}
	if len(g.categories) == 255 {
		return 0
	}
	g.categories = append(g.categories, name)
	return uint8(len(g.categories) - 1)
}

func (n *nameTable) op(name model.Str) uint8 {
	if n.ops[name] == 0 {
		n.ops[name] = n.g.category(string(naming.OpKindOf(n.s.Text(name)))) + 1
	}
	return n.ops[name] - 1
}

// work is the category of a kernel.
func (n *nameTable) work(name model.Str) uint8 {
	if n.works[name] == 0 {
		n.works[name] = n.g.category(naming.ClassifyKernel(n.s.Text(name)).String()) + 1
	}
	return n.works[name] - 1
}

func (n *nameTable) call(name model.Str) callClass {
	if n.calls[name] == callUnseen {
		n.calls[name] = classifyCall(n.s.Text(name))
	}
	return n.calls[name]
}

// Classes of calls of the device's runtime.
type callClass uint8

const (
	callUnseen callClass = iota
	callPlain
	callBlocks
	callCopies
	callAllocates
)

func classifyCall(name string) callClass {
	switch {
	case naming.WaitsForDevice(name):
		return callBlocks
	case naming.AllocatesOnDevice(name):
		return callAllocates
	case naming.CopiesMemory(name):
		return callCopies
	}
	return callPlain
}

// note is what an annotation's name tells.
func (n *nameTable) note(name model.Str) uint8 {
	if n.notes[name] == 0 {
		n.notes[name] = noteOther
		if text := n.s.Text(name); naming.IsDataLoader(text) {
			n.notes[name] = noteInput
		} else if naming.IsStep(text) {
			n.notes[name] = noteStep
		}
	}
	return n.notes[name]
}

// What annotations' names tell.
const (
	noteOther = iota + 1
	noteInput
	noteStep
)
