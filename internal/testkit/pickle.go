package testkit

import (
	"bufio"
	"encoding/binary"
	"io"

	"bottleneck/internal/model"
)

// pickler writes protocol 4 as Python does, with every text and container remembered.
type pickler struct {
	w    *bufio.Writer
	memo int
	text map[string]int
}

// raw writes bytes of the pickle as they are.
func (p *pickler) raw(b ...byte) { p.w.Write(b) }

// kept remembers the last value.
func (p *pickler) kept() int {
	p.raw(0x94)
	p.memo++
	return p.memo - 1
}

func (p *pickler) get(n int) {
	if n < 256 {
		p.raw('h', byte(n))
		return
	}
	p.raw(binary.LittleEndian.AppendUint32([]byte{'j'}, uint32(n))...)
}

func (p *pickler) str(s string) {
	if n, known := p.text[s]; known {
		p.get(n)
		return
	}
	p.raw(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(s)))...)
	p.w.WriteString(s)
	p.text[s] = p.kept()
}

func (p *pickler) int(n int64) {
	switch {
	case n >= 0 && n < 256:
		p.raw('K', byte(n))
	case n >= -1<<31 && n < 1<<31:
		p.raw(binary.LittleEndian.AppendUint32([]byte{'J'}, uint32(n))...)
	default:
		p.raw(binary.LittleEndian.AppendUint64([]byte{0x8a, 8}, uint64(n))...)
	}
}

func (p *pickler) dict(items func()) { p.raw('}', 0x94, '('); p.memo++; items(); p.raw('u') }

func (p *pickler) list(n int, item func(i int)) {
	p.raw(']', 0x94)
	p.memo++
	for from := 0; from < n; from += 1000 {
		p.raw('(')
		for i := from; i < min(n, from+1000); i++ {
			item(i)
		}
		p.raw('e')
	}
}

func (p *pickler) number(key string, n int64) { p.str(key); p.int(n) }

// MemorySnapshot writes a snapshot as torch.cuda.memory._dump_snapshot pickles it. With copies above one, its segments and events
// stand so many times over, each copy with its own frames and texts, as a longer recording has them.
func MemorySnapshot(w io.Writer, s *model.Strings, m *model.MemorySnapshot, copies int) error {
	p := &pickler{w: bufio.NewWriterSize(w, 1<<20), text: map[string]int{}}
	p.raw(0x80, 4)
	k := &snapshotPickler{pickler: p, s: s, m: m}
	devices := len(m.Devices)
	p.dict(func() {
		p.str("segments")
		p.raw(']', 0x94)
		p.memo++
		for i := range devices * copies {
			k.fresh()
			p.raw('(')
			k.segments(&m.Devices[i%devices])
			p.raw('e')
		}
		p.str("device_traces")
		p.list(devices, func(i int) {
			n := len(m.Devices[i].Events)
			p.list(n*copies, func(e int) {
				if e%n == 0 {
					k.fresh()
				}
				k.event(&m.Devices[i].Events[e%n])
			})
		})
		p.str("allocator_settings")
		p.dict(func() { p.str("PYTORCH_CUDA_ALLOC_CONF"); p.str(m.Config) })
	})
	p.raw('.')
	return p.w.Flush()
}

type snapshotPickler struct {
	*pickler
	s      *model.Strings
	m      *model.MemorySnapshot
	frames map[model.FrameID]int
	stacks map[model.StackID]int
}

// fresh forgets what may be referred to, as for objects that are equal to earlier ones and not the same.
func (k *snapshotPickler) fresh() {
	k.frames, k.stacks, k.text = map[model.FrameID]int{}, map[model.StackID]int{}, map[string]int{}
}

func (k *snapshotPickler) segments(d *model.SnapshotDevice) {
	for i := range d.Segments {
		g := &d.Segments[i]
		k.dict(func() {
			k.number("device", int64(d.Index))
			k.number("address", int64(g.Addr))
			k.number("total_size", g.Size)
			k.number("stream", g.Stream)
			k.str("segment_type")
			k.str(map[bool]string{true: "large", false: "small"}[g.Large])
			k.str("is_expandable")
			k.raw(map[bool]byte{true: 0x88, false: 0x89}[g.Expandable])
			k.str("segment_pool_id")
			k.int(int64(map[bool]int{true: 1}[g.Private]))
			k.raw('K', 0, 0x86, 0x94)
			k.memo++
			k.str("blocks")
			k.list(int(g.EndBlock-g.FirstBlock), func(n int) { k.block(&d.Blocks[int(g.FirstBlock)+n]) })
			k.str("frames")
			k.stack(g.Stack)
		})
	}
}

func (k *snapshotPickler) block(b *model.MemoryBlock) {
	k.dict(func() {
		k.number("address", int64(b.Addr))
		k.number("size", b.Size)
		k.number("requested_size", b.Requested)
		k.str("state")
		k.str([]string{"inactive", "active_allocated", "active_pending_free"}[b.State])
		k.str("frames")
		k.stack(b.Stack)
	})
}

var actionNames = []string{"user_defined", "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
	"segment_unmap", "snapshot", "oom"}

func (k *snapshotPickler) event(e *model.AllocatorEvent) {
	k.dict(func() {
		k.str("action")
		k.str(actionNames[e.Action])
		k.number(map[bool]string{true: "device_free", false: "addr"}[e.Action == model.ActionOOM], int64(e.Addr))
		k.number("size", e.Size)
		k.number("stream", 0)
		k.number("time_us", int64(e.Time)/1000)
		if e.Stack != model.NoStack {
			k.str("frames")
			k.stack(e.Stack)
		}
	})
}

func (k *snapshotPickler) stack(id model.StackID) {
	if n, known := k.stacks[id]; known {
		k.get(n)
		return
	}
	at := k.memo
	var frames []model.FrameID
	for up := id; up != model.NoStack; up = k.m.Stacks.Parent[up] {
		frames = append(frames, k.m.Stacks.Frame[up])
	}
	k.list(len(frames), func(i int) { k.frame(frames[i]) })
	k.stacks[id] = at
}

func (k *snapshotPickler) frame(id model.FrameID) {
	if n, known := k.frames[id]; known {
		k.get(n)
		return
	}
	at := k.memo
	f := &k.m.Stacks.Frames[id]
	k.dict(func() {
		k.str("name")
		k.str(k.s.Text(f.Function))
		k.str("filename")
		k.str(k.s.Text(f.File))
		k.number("line", int64(f.Line))
	})
	k.frames[id] = at
}
