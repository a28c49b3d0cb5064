package ingest

import (
	"math"

	"bottleneck/internal/model"
)

// argTable keeps each distinct set of arguments once: a program repeats its calls, so that a table is some thousand rows
// where a trace has millions of events. Row 0 is the first set, not an empty one.
type argTable[T comparable] struct {
	rows  []T
	hash  []uint32 // of rows
	slots []uint32 // open addressing: row plus one
}

// intern is the row that holds v, whose hash is h; a new one if there is none.
func (t *argTable[T]) intern(v *T, h uint32) uint32 {
	if len(t.rows)*2 >= len(t.slots) {
		t.grow()
	}
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = uint32(len(t.rows)) + 1
			t.rows, t.hash = append(t.rows, *v), append(t.hash, h)
			return uint32(len(t.rows)) - 1
		}
		if t.hash[slot-1] == h && t.rows[slot-1] == *v {
			return slot - 1
		}
	}
}

func (t *argTable[T]) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for row, h := range t.hash {
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(row) + 1
	}
}

// stir mixes another word into a hash.
func stir(h, word uint64) uint64 {
	h = (h ^ word) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func pair[A, B ~uint32 | ~int32](a A, b B) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

func hashOpArgs(a *model.OpArgs) uint32 {
	h := stir(0, pair(a.Shapes, a.Strides))
	h = stir(h, pair(a.Types, a.Concrete))
	h = stir(h, pair(a.Stack, a.Module))
	return uint32(stir(h, uint64(a.Extra)))
}

func hashDeviceArgs(a *model.DeviceArgs) uint32 {
	h := stir(0, pair(a.Grid[0], a.Grid[1]))
	h = stir(h, pair(a.Grid[2], a.Block[0]))
	h = stir(h, pair(a.Block[1], a.Block[2]))
	h = stir(h, pair(a.Registers, a.SharedBytes))
	h = stir(h, pair(math.Float32bits(a.BlocksPerSM), math.Float32bits(a.BandwidthGBs)))
	h = stir(h, uint64(a.Bytes))
	h = stir(h, uint64(a.Stream)^uint64(a.WaitStream)<<32)
	h = stir(h, uint64(a.WaitCorrelation)^uint64(a.GraphNode)<<32)
	return uint32(stir(h, pair(a.Device, a.Collective)))
}
