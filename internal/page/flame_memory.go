package page

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
)

// memoryTree is what snapshots held by the stacks that allocated it: at the peak of the recorded events, else at the snapshot itself. nil
// where no stack was recorded.
func memoryTree(s *model.Session) *tree {
	type held struct {
		of     *model.MemorySnapshot
		stacks allocations.SnapshotStacks
	}
	var all []held
	known := false
	for _, m := range s.Snapshots {
		stacks, ok := allocations.StacksOf(m)
		known = known || ok
		for _, one := range stacks {
			all = append(all, held{m, one})
		}
	}
	if !known {
		return nil
	}
	t := newTree("all memory")
	t.unit = unitBytes
	for _, h := range all {
		moment := "when it was taken"
		if h.stacks.AtPeak {
			moment = "at its peak"
		}
		root := t.child(0, frame{name: fmt.Sprintf("device %d in %s, %s", h.stacks.Device, snapshotFile(s, h.of), moment)})
		t.addMemory(root, s, h.of, h.stacks.Bytes)
	}
	t.sum()
	return t
}

func snapshotFile(s *model.Session, m *model.MemorySnapshot) string {
	if m.Input < 0 || m.Input >= len(s.Inputs) {
		return "the snapshot"
	}
	return path.Base(strings.ReplaceAll(s.Inputs[m.Input].Path, `\`, "/"))
}

// addMemory adds bytes by stack: the calls of Python, and below them the operator that asked.
func (t *tree) addMemory(root int32, s *model.Session, m *model.MemorySnapshot, bytes map[model.StackID]int64) {
	places := allocations.SnapshotPlaces(m, s.Strings)
	var frames []model.FrameID
	for _, id := range slices.Sorted(maps.Keys(bytes)) {
		node := root
		frames = framesOf(&m.Stacks, id, frames)
		for i := len(frames) - 1; i >= max(0, len(frames)-maxDepth); i-- {
			if f := &m.Stacks.Frames[frames[i]]; f.Line > 0 { // C++ has none
				node = t.child(node, frame{name: s.Strings.Text(f.Function), place: placeText(s.Strings.Text(f.File), int(f.Line))})
			}
		}
		if op := places(id).Native; op != "" {
			node = t.child(node, frame{name: op})
		}
		if node == root {
			node = t.child(root, frame{name: "(before the recording, or by whom is not known)"})
		}
		t.nodes[node].self += float64(bytes[id])
	}
}
