package page

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// memoryTree is what was held at the peak by the calls that allocated it: of traces with memory events, and of snapshots, of which those
// without recorded events are of the moment when they were taken. nil where there are neither.
func memoryTree(s *model.Session) *tree {
	t := newTree("all memory")
	t.unit = unitBytes
	for _, peak := range peaksOf(s) {
		t.addUse(s, peak.trace, &peak.use)
	}
	for _, m := range s.Snapshots {
		stacks, known := allocations.StacksOf(m)
		for _, held := range stacks {
			moment := "when it was taken"
			if held.AtPeak {
				moment = "at its peak"
			}
			if known {
				root := t.child(0, frame{name: fmt.Sprintf("device %d in %s, %s", held.Device, snapshotFile(s, m), moment)})
				t.addHeld(root, s, m, held.Bytes)
			}
		}
	}
	if t.sum(); t.nodes[0].total <= 0 {
		return nil
	}
	return t
}

// devicePeak is one device of a rank in the trace of its highest peak.
type devicePeak struct {
	trace *model.Trace
	use   allocations.Use
}

// peaksOf finds the highest peak of each rank's devices over all of its traces, as the report has it.
func peaksOf(s *model.Session) []devicePeak {
	type key struct {
		rank        int
		kind, index int8
	}
	var out []devicePeak
	index := map[key]int{}
	for _, trace := range s.Traces {
		for _, use := range allocations.UseOf(trace, s.Strings) {
			k := key{trace.Rank, use.DeviceType, use.DeviceIndex}
			if at, known := index[k]; !known {
				index[k] = len(out)
				out = append(out, devicePeak{trace, use})
			} else if use.Peak > out[at].use.Peak {
				out[at] = devicePeak{trace, use}
			}
		}
	}
	return out
}

// addUse adds what one device of a trace held at its peak: the calls around each allocation, those of Python too where they were recorded.
func (t *tree) addUse(s *model.Session, trace *model.Trace, use *allocations.Use) {
	name := report.DeviceName(use.DeviceType, use.DeviceIndex) + " at its peak"
	if len(s.Traces) > 1 {
		name = traceName(trace) + ": " + name
	}
	root, ev, m := t.child(0, frame{name: name}), &trace.Events, &trace.Memory
	rest := use.Peak
	for _, row := range use.AtPeak {
		var path []model.EventID
		for id := allocations.OpenAt(trace, m.Lane[row], m.Time[row]); id != model.NoEvent && len(path) < maxDepth; id = ev.Parent[id] {
			path = append(path, id)
		}
		node := root
		for _, id := range slices.Backward(path) {
			node = t.child(node, frame{name: s.Strings.Text(ev.Name[id])})
		}
		if node == root {
			node = t.child(root, frame{name: "(outside of all calls)"})
		}
		t.nodes[node].self += float64(m.Bytes[row])
		rest -= m.Bytes[row]
	}
	if rest > 0 {
		t.nodes[t.child(root, frame{name: "(before the trace)"})].self += float64(rest)
	}
}

func snapshotFile(s *model.Session, m *model.MemorySnapshot) string {
	if m.Input < 0 || m.Input >= len(s.Inputs) {
		return "the snapshot"
	}
	return path.Base(strings.ReplaceAll(s.Inputs[m.Input].Path, `\`, "/"))
}

// addHeld adds bytes by stack: the calls of Python, and below them the operator that asked.
func (t *tree) addHeld(root int32, s *model.Session, m *model.MemorySnapshot, bytes map[model.StackID]int64) {
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
