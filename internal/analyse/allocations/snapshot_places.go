package allocations

import "bottleneck/internal/model"

// SnapshotPlaces finds who allocated by a stack of a snapshot. Its function remembers what it found; it is for one goroutine.
func SnapshotPlaces(m *model.MemorySnapshot, s *model.Strings) func(model.StackID) SnapshotHolder {
	places := &stackPlaces{m: m, s: s, known: map[model.StackID]SnapshotHolder{}}
	return places.of
}
