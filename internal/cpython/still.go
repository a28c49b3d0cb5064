package cpython

import (
	"bytes"

	"bottleneck/internal/proc"
)

// maxEarly is how many code objects of a moving stack are compared within the batch: those of its innermost frames are
// the ones that it will stand in next.
const maxEarly = 3

// markAsleep asks which threads have not run since the last snapshot. Their stacks are what they were. Only the link to
// the next thread of the list may change, where that one ended, which it must have run for.
func (r *Reader) markAsleep() {
	if r.Asleep == nil {
		return
	}
	for _, t := range r.order {
		t.still = t.whole && r.Asleep(t.addr)
	}
	for _, t := range r.order {
		behind := r.byAddr[word(t.head, r.l.Thread.Next)]
		t.mayEnd = behind != nil && !behind.still
	}
}

// allStill says that nothing needs to be read: no known thread has run. A thread of the C library's may have entered
// Python for the first time meanwhile, so that this holds for about 50 ms at a time.
func (r *Reader) allStill() bool {
	if len(r.order) == 0 || r.tick-r.read > r.every/2 {
		return false
	}
	for _, t := range r.order {
		if !t.still {
			return false
		}
	}
	for _, t := range r.order {
		t.fresh = true
		copy(t.next[:], t.head[r.l.Thread.Next:])
	}
	return true
}

// predictStill appends what is read of a thread that did not run.
func (t *threadState) predictStill(l *Layout, ranges []proc.Range) []proc.Range {
	if !t.mayEnd {
		copy(t.next[:], t.head[l.Thread.Next:])
		return ranges
	}
	return append(ranges, proc.Range{Addr: t.addr + uint64(l.Thread.Next), Buf: t.next[:]})
}

// nextOf is the address of the next thread in the list, for a thread that did not run.
func (t *threadState) nextOf(l *Layout) uint64 {
	copy(t.head[l.Thread.Next:], t.next[:])
	return word(t.next[:], 0)
}

// predictCodes appends the identifying bytes of the code objects in which threads moved last: they are behind the stacks,
// so that one that was freed does not spoil those.
func (r *Reader) predictCodes() {
	r.early = r.early[:0]
	for _, t := range r.order {
		if t.still {
			continue
		}
		for _, c := range t.moving {
			if c.dead || c.early == r.tick {
				continue
			}
			if c.again == nil {
				c.again = make([]byte, len(c.key))
			}
			c.early = r.tick
			r.early = append(r.early, c)
			r.ranges = append(r.ranges, proc.Range{Addr: c.addr + uint64(r.l.Code.KeyFrom), Buf: c.again})
		}
	}
}

// compareEarly compares the n code objects that the batch has read. One that is another now is forgotten before the
// stacks are walked; those that were not read are compared afterwards as usual.
func (r *Reader) compareEarly(n int) {
	for i, c := range r.early {
		switch {
		case i >= n:
			c.early = 0
		case !bytes.Equal(c.again, c.key):
			delete(r.codes.byAddr, c.addr)
			c.dead, c.early = true, 0
		}
	}
}
