package cpython

// walk follows the chain of frames from the innermost one.
func (r *Reader) walk(t *threadState, cur uint64, out *ThreadSample) Fault {
	t.frames, t.addrs, t.loose, t.late = t.frames[:0], t.addrs[:0], false, false
	f := &r.l.Frame
	var packed packing
	native := true // the last frame was one of the C stack
	for steps := 0; cur != 0; steps++ {
		if len(t.frames) >= maxFrames {
			out.Cut = true
			return FaultNone
		}
		if steps > 4*maxFrames {
			return FaultTorn
		}
		b, home := r.frame(t, cur)
		if b == nil {
			return FaultMemory
		}
		back := word(b, f.Back)
		if back == cur {
			return FaultTorn
		}
		if native = f.Owner != none && b[f.Owner] >= f.OwnerNative; native {
			if n := len(t.frames); n > 0 {
				t.frames[n-1].Entry = true
			}
			cur = back
			continue
		}
		t.loose = t.loose || home == 0
		fault := r.push(t, cur, b, home, &packed)
		if fault != FaultNone {
			return fault
		}
		cur = back
	}
	if !r.complete(t, native) {
		return FaultTorn
	}
	return FaultNone
}

// complete says whether a chain ended where one may end: at the C code that called Python first. The link of a frame
// that was just left is cleared, which looks like an end.
func (r *Reader) complete(t *threadState, native bool) bool {
	n := len(t.frames)
	switch {
	case n == 0 || r.l.Frame.Heap:
		return true
	case r.l.Frame.Entry != none:
		return t.frames[n-1].Entry
	}
	return native
}

// packing checks that frames lie on the data stack as they were pushed: each begins where its caller's ends.
type packing struct {
	chunk uint64
	inner uint64 // address of the last frame seen in the chunk
}

func (p *packing) fits(chunk, addr uint64, length uint64) bool {
	ok := p.chunk != chunk || addr+length == p.inner || length == 0 && addr < p.inner
	p.chunk, p.inner = chunk, addr
	return ok
}

func (r *Reader) push(t *threadState, addr uint64, b []byte, home uint64, packed *packing) Fault {
	f := &r.l.Frame
	ca := word(b, f.Code) &^ f.Tag
	var c *Code
	if i := len(t.frames); i < len(t.prev) && t.prev[i].Code.addr == ca && !t.prev[i].Code.dead {
		c = t.prev[i].Code // a stack that did not change needs no search
	} else {
		c = r.codes.byAddr[ca]
	}
	if c == nil {
		var err error
		if c, err = r.codes.load(ca); err != nil {
			return FaultTorn
		}
		c.checked = r.tick
	}
	off, ok := r.offset(c, b)
	if home != 0 && !packed.fits(home, addr, c.frameLen) || !ok && !c.shim {
		r.suspect(c)
		return FaultTorn
	}
	if c.shim {
		return FaultNone
	}
	entry := f.Entry != none && b[f.Entry] != 0
	t.frames = append(t.frames, RawFrame{Code: c, Offset: off, Entry: entry})
	t.addrs = append(t.addrs, addr)
	return FaultNone
}

// offset is the frame's instruction, checked to lie in its bytecode.
func (r *Reader) offset(c *Code, b []byte) (int32, bool) {
	f := &r.l.Frame
	if f.Heap {
		i := int32(word32(b, f.Instr))
		return max(i, -1) * int32(f.InstrScale), i >= -1 && i < maxTable
	}
	at := word(b, f.Instr)
	if d, ok := c.at(at, c.start); ok || f.CopyIndex == none {
		return d, ok
	}
	return r.offsetInCopy(c, word32(b, f.CopyIndex), at)
}

// frame finds the copy of the frame at addr, reading it where there is none yet. home is the chunk it lies in, 0 for
// one that is not on the data stack.
func (r *Reader) frame(t *threadState, addr uint64) (b []byte, home uint64) {
	size := r.l.Frame.Size
	for i := range t.chunks {
		c := &t.chunks[i]
		if addr >= c.addr && addr-c.addr < uint64(len(c.buf)) {
			at := int(addr - c.addr)
			if at+size > len(c.buf) {
				break
			}
			c.used, c.end = true, max(c.end, at+size)
			if i == 0 && len(t.frames) == 0 {
				c.end = at + size
			}
			return c.buf[at : at+size], c.addr
		}
	}
	for i := range t.singles {
		s := &t.singles[i]
		if s.addr == addr && s.valid {
			s.used = true
			return s.buf, 0
		}
	}
	if r.l.Thread.Chunk != none {
		if b, home, ok := r.frameInChunk(t, addr); ok {
			return b, home
		}
	}
	return r.frameAlone(t, addr), 0
}

func (r *Reader) frameAlone(t *threadState, addr uint64) []byte {
	if len(t.singles) >= 4*maxFrames {
		return nil
	}
	var s single
	if n := len(t.spare); n > 0 {
		s, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		s.buf = make([]byte, r.l.Frame.Size)
	}
	s.addr, s.used, s.valid = addr, true, true
	if r.mem.Read(addr, s.buf) != nil {
		return nil
	}
	t.singles = append(t.singles, s)
	return s.buf
}

// frameInChunk finds the data-stack chunk that holds addr, along the list of chunks, and copies its part up to there.
func (r *Reader) frameInChunk(t *threadState, addr uint64) ([]byte, uint64, bool) {
	at := word(t.head, r.l.Thread.Chunk)
	total := 0
	for i := 0; at != 0 && i < maxChunks && total < maxStackMem; i++ {
		if i == len(t.chunks) {
			t.chunks = append(t.chunks, chunk{})
		}
		c := &t.chunks[i]
		if c.addr != at {
			t.chunks = t.chunks[:i+1]
			*c = chunk{addr: at, buf: make([]byte, chunkHeader, 4096)}
			if r.mem.Read(at, c.buf) != nil {
				t.chunks = t.chunks[:i]
				return nil, 0, false
			}
		}
		c.used = true // chunks on the way are kept: their headers lead on
		size := word(c.buf, 8)
		if addr >= at && addr-at < size && size <= maxChunk {
			t.late = true
			return r.fill(c, int(addr-at))
		}
		total += len(c.buf)
		at = word(c.buf, 0)
	}
	return nil, 0, false
}

// fill copies a chunk up to and with the frame at the given place in it.
func (r *Reader) fill(c *chunk, at int) ([]byte, uint64, bool) {
	end := at + r.l.Frame.Size
	c.resize(end + slack)
	if end > len(c.buf) || r.mem.Read(c.addr, c.buf) != nil {
		c.used = false
		return nil, 0, false
	}
	c.end = max(c.end, end)
	return c.buf[at:end], c.addr, true
}
