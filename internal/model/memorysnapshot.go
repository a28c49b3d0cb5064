package model

import "fmt"

// MemorySnapshot is what PyTorch's caching allocator held at a moment, with what it did before (torch.cuda.memory._dump_snapshot;
// pytorch/pytorch, torch/csrc/cuda/memory_snapshot.cpp).
type MemorySnapshot struct {
	Input   int    // index in Session.Inputs
	Stacks  Stacks // of segments, blocks and events; frames of C++ have line 0
	Devices []SnapshotDevice
	// Config is PYTORCH_CUDA_ALLOC_CONF, "" where it was not set.
	Config string
	// From and To bound what a report is of; both 0: all. The events stay, since levels are sums over all of them.
	From, To Time
}

// SnapshotDevice is one device's part of a snapshot.
type SnapshotDevice struct {
	Index    int
	Segments []MemorySegment
	Blocks   []MemoryBlock    // of all segments, those of one together
	Events   []AllocatorEvent // in the order of the file, which is that of time
}

// MemorySegment is a piece of memory that the allocator took from the driver.
type MemorySegment struct {
	Addr                 uint64
	Size                 int64
	Stream               int64
	Large                bool
	Expandable           bool
	Private              bool // of a memory pool other than the default one, as CUDA graphs have
	Stack                StackID
	FirstBlock, EndBlock int32 // in Blocks
}

// BlockState is what a block of a segment is used for.
type BlockState uint8

// States of blocks. A pending one was freed, and another stream may still use it.
const (
	BlockFree BlockState = iota
	BlockActive
	BlockPending
)

// MemoryBlock is a part of a segment.
type MemoryBlock struct {
	Addr      uint64
	Size      int64
	Requested int64 // what the program asked for; 0 unknown
	State     BlockState
	Stack     StackID // who allocated it; NoStack where that was not recorded
}

// AllocatorAction is what the allocator did.
type AllocatorAction uint8

// Actions of the allocator.
const (
	ActionOther AllocatorAction = iota
	ActionAlloc
	ActionFreeRequested // the program is done with the block
	ActionFree          // no stream uses it any more
	ActionSegmentAlloc  // memory was taken from the driver
	ActionSegmentFree
	ActionSegmentMap
	ActionSegmentUnmap
	ActionSnapshot
	ActionOOM // no memory was left; Size is what was asked for, Addr what the driver had left in bytes
)

// AllocatorEvent is one action.
type AllocatorEvent struct {
	Time   Time // 0 where the file has none (PyTorch up to 2.1)
	Addr   uint64
	Size   int64
	Stack  StackID
	Action AllocatorAction
}

func (m *MemorySnapshot) check(inputs int) error {
	if m.Input < 0 || m.Input >= inputs {
		return fmt.Errorf("input %d does not exist", m.Input)
	}
	stacks := StackID(len(m.Stacks.Frame))
	bad := func(id StackID) bool { return id < NoStack || id >= stacks }
	for _, d := range m.Devices {
		for i := range d.Segments {
			if s := &d.Segments[i]; bad(s.Stack) || s.FirstBlock < 0 || s.EndBlock < s.FirstBlock ||
				int(s.EndBlock) > len(d.Blocks) || s.Size < 0 {
				return fmt.Errorf("device %d: segment %d is %+v", d.Index, i, *s)
			}
		}
		for i := range d.Blocks {
			if b := &d.Blocks[i]; bad(b.Stack) || b.Size < 0 || b.State > BlockPending {
				return fmt.Errorf("device %d: block %d is %+v", d.Index, i, *b)
			}
		}
		for i := range d.Events {
			if e := &d.Events[i]; bad(e.Stack) || e.Action > ActionOOM || e.Size < 0 {
				return fmt.Errorf("device %d: event %d is %+v", d.Index, i, *e)
			}
		}
	}
	return nil
}
