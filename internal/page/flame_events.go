package page

import (
	"fmt"

	"bottleneck/internal/model"
)

// eventTrees are two trees of what the traces recorded, by the path of calls: time on the CPU, and the device's work below the
// operator that launched it. One without time is nil.
func eventTrees(s *model.Session) (cpu, device *tree) {
	cpu, device = newTree("all traced calls"), newTree("all device work")
	for _, t := range s.Traces {
		b := traceTrees{s: s, t: t, cpu: cpu, device: device, launchers: map[model.EventID]int32{}}
		if len(s.Traces) > 1 {
			name := frame{name: traceName(t)}
			b.cpuRoot, b.deviceRoot = cpu.child(0, name), device.child(0, name)
		}
		b.add()
	}
	for _, tree := range []**tree{&cpu, &device} {
		if (*tree).sum(); (*tree).nodes[0].total <= 0 {
			*tree = nil
		}
	}
	return cpu, device
}

func traceName(t *model.Trace) string {
	if t.Rank != model.NoRank {
		return fmt.Sprintf("rank %d", t.Rank)
	}
	return fmt.Sprintf("file %d", t.Input+1)
}

// traceTrees adds one trace to both trees.
type traceTrees struct {
	s                   *model.Session
	t                   *model.Trace
	cpu, device         *tree
	cpuRoot, deviceRoot int32
	launchers           map[model.EventID]int32 // nodes of device by operator
}

func (b *traceTrees) add() {
	ev := &b.t.Events
	threads := 0
	for i := range b.t.Lanes {
		if b.t.Lanes[i].Kind == model.LaneThread {
			threads++
		}
	}
	nodes := make([]int32, ev.Len())
	for i := range b.t.Lanes {
		lane := &b.t.Lanes[i]
		switch lane.Kind {
		case model.LaneThread:
			root := b.cpuRoot
			if threads > 1 {
				root = b.cpu.child(root, frame{name: laneName(b.s, lane)})
			}
			b.thread(lane, root, nodes)
		case model.LaneStream:
			b.stream(lane)
		}
	}
}

// thread adds a CPU thread's calls. A call's parent stands before it.
func (b *traceTrees) thread(lane *model.Lane, root int32, nodes []int32) {
	ev := &b.t.Events
	for id := lane.FirstEvent; id < lane.EndEvent; id++ {
		if ev.Kind[id] == model.KindOverhead || ev.Dur[id] < 0 {
			nodes[id] = root
			continue
		}
		node, dur := root, float64(ev.Dur[id])
		if parent := ev.Parent[id]; parent >= lane.FirstEvent && parent < id {
			node = nodes[parent]
			if node != root { // a call's own time is what its calls leave of it
				b.cpu.nodes[node].self = max(b.cpu.nodes[node].self-dur, 0)
			}
		}
		nodes[id] = b.cpu.child(node, frame{name: b.s.Strings.Text(ev.Name[id])})
		b.cpu.nodes[nodes[id]].self += dur
	}
}

// stream adds a device stream's work below the operators that launched it.
func (b *traceTrees) stream(lane *model.Lane) {
	ev := &b.t.Events
	for id := lane.FirstEvent; id < lane.EndEvent; id++ {
		if !ev.Kind[id].Device() || ev.Dur[id] <= 0 {
			continue
		}
		node := b.device.child(b.launcher(ev.Op[id], 0), frame{name: b.s.Strings.Text(ev.Name[id])})
		b.device.nodes[node].self += float64(ev.Dur[id])
	}
}

// launcher is the node of an operator, below those of the calls around it.
func (b *traceTrees) launcher(op model.EventID, depth int) int32 {
	if op == model.NoEvent || depth > maxDepth {
		return b.deviceRoot
	}
	node, ok := b.launchers[op]
	if !ok {
		ev := &b.t.Events
		node = b.device.child(b.launcher(ev.Parent[op], depth+1), frame{name: b.s.Strings.Text(ev.Name[op])})
		b.launchers[op] = node
	}
	return node
}

// laneName is a thread's or stream's name.
func laneName(s *model.Session, l *model.Lane) string {
	name := s.Strings.Text(l.Name)
	switch {
	case l.Kind == model.LaneStream:
		return fmt.Sprintf("device %d, stream %d", l.Device, l.Stream)
	case name != "":
		return name
	}
	return "thread " + s.Strings.Text(l.TID)
}
