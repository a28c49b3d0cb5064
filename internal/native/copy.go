package native

import "bottleneck/internal/proc"

// StackCopy is the upper part of a thread's stack as it was copied at one moment, and the process for what lies below.
type StackCopy struct {
	Addr uint64 // of the copy's first byte
	Data []byte
	Rest proc.Memory // nil: nothing else can be read
}

// CopyStack reads a stack from its pointer up to at most size bytes, in one call; it ends where memory does.
func CopyStack(mem proc.Memory, sp uint64, size int, buf []byte) StackCopy {
	const page = 4096
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	var ranges []proc.Range
	for at := 0; at < size; {
		n := min(size-at, int(page-(sp+uint64(at))%page))
		ranges = append(ranges, proc.Range{Addr: sp + uint64(at), Buf: buf[at : at+n]})
		at += n
	}
	n, err := mem.ReadMany(ranges)
	if err != nil {
		n = 0
	}
	have := 0
	for _, r := range ranges[:n] {
		have += len(r.Buf)
	}
	return StackCopy{Addr: sp, Data: buf[:have], Rest: mem}
}

// Read implements proc.Memory.
func (c StackCopy) Read(addr uint64, buf []byte) error {
	if at := addr - c.Addr; addr >= c.Addr && at < uint64(len(c.Data)) && uint64(len(buf)) <= uint64(len(c.Data))-at {
		copy(buf, c.Data[at:])
		return nil
	}
	if c.Rest == nil {
		return proc.ErrUnreadable
	}
	return c.Rest.Read(addr, buf)
}

// ReadMany implements proc.Memory.
func (c StackCopy) ReadMany(ranges []proc.Range) (int, error) {
	for i, r := range ranges {
		if c.Read(r.Addr, r.Buf) != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}
