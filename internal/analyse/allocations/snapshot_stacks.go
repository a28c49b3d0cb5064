package allocations

import "bottleneck/internal/model"

// SnapshotStacks is what one device of a snapshot held, by the stacks that allocated it.
type SnapshotStacks struct {
	Device int
	// AtPeak says that it is of the highest moment of the recorded events, in bytes as the program asked for them; else it is of the
	// snapshot itself, in bytes of blocks.
	AtPeak bool
	Bytes  map[model.StackID]int64 // NoStack: by whom is not known
}

// StacksOf gives the bytes by stack of each device that holds any: the same sums as SnapshotUse's AtPeak, or as its Live where no events
// were recorded. ok is false where no stack is known.
func StacksOf(m *model.MemorySnapshot) (out []SnapshotStacks, ok bool) {
	for i := range m.Devices {
		d := &m.Devices[i]
		stacks := SnapshotStacks{Device: d.Index, Bytes: map[model.StackID]int64{}}
		if r, peakAt, events := peakOf(d, m); events > 0 {
			stacks.AtPeak = true
			r.reset(r.before)
			for k := 0; k <= peakAt; k++ {
				r.step(k)
			}
			for _, b := range r.alive {
				stacks.Bytes[b.stack] += b.size
			}
		} else {
			for k := range d.Blocks {
				if b := &d.Blocks[k]; b.State == model.BlockActive {
					stacks.Bytes[b.Stack] += b.Size
				}
			}
		}
		for stack := range stacks.Bytes {
			ok = ok || stack != model.NoStack
		}
		if len(stacks.Bytes) > 0 {
			out = append(out, stacks)
		}
	}
	return out, ok
}

// peakOf finds the event of the highest level, -1 where the recording begins with it, and how many events there are.
func peakOf(d *model.SnapshotDevice, m *model.MemorySnapshot) (r *replay, peakAt int, events int64) {
	if len(d.Events) == 0 {
		return nil, -1, 0
	}
	r = newSnapshotRun(d)
	u := SnapshotUse{Device: d.Index}
	peakAt = r.levels(&u, m)
	return r, peakAt, u.Events
}
