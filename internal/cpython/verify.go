package cpython

import (
	"bytes"

	"bottleneck/internal/proc"
)

// verifyObjects reads the frames of a stack of objects (to 3.10) a second time. Frames there are freed and reused one
// by one, so that a chain of copies may never have existed; one whose links did not change between two readings did.
// The innermost frame is excepted: it may return, which is no fault. One that is alone is not: a generator that does not
// run has no link either.
func (r *Reader) verifyObjects(t *threadState, out *ThreadSample) {
	if unmoved(t) {
		return
	}
	f := &r.l.Frame
	width := max(f.Code, f.Back) + 8
	if cap(r.keys) < width*len(t.addrs) {
		r.keys = make([]byte, 2*width*len(t.addrs))
	}
	r.ranges = r.ranges[:0]
	for i, a := range t.addrs {
		r.ranges = append(r.ranges, proc.Range{Addr: a, Buf: r.keys[:cap(r.keys)][width*i : width*(i+1)]})
	}
	// One by one, from the innermost frame outwards: read as one piece, six times as many stacks of churn.py were given up.
	if got, err := r.readAll(r.ranges); err != nil || got < len(r.ranges) {
		out.Fault = FaultTorn
		return
	}
	for i := max(0, min(1, len(r.ranges)-1)); i < len(r.ranges); i++ {
		b := r.ranges[i].Buf
		if word(b, 0) == 0 || word(b, f.Code) != t.frames[i].Code.addr || word(b, f.Back) != addrAt(t.addrs, i+1) {
			out.Fault = FaultTorn
			return
		}
	}
}

// unmoved says that the stack equals the last one, which was verified.
func unmoved(t *threadState) bool {
	if len(t.frames) != len(t.prev) {
		return false
	}
	for i := range t.frames {
		if t.frames[i] != t.prev[i] || t.addrs[i] != t.prevA[i] {
			return false
		}
	}
	return true
}

func addrAt(addrs []uint64, i int) uint64 {
	if i < len(addrs) {
		return addrs[i]
	}
	return 0
}

// recodeRounds is how often stacks with a changed code object are walked again.
const recodeRounds = 3

// compareCodes reads the identifying bytes of code objects again: addresses of freed ones are reused. A stack that
// holds a changed one is walked once more, with what lies there now.
func (r *Reader) compareCodes(s *Snapshot) {
	for range recodeRounds {
		r.changed = r.changed[:0]
		r.compareOnce(s)
		if len(r.changed) == 0 {
			return
		}
		r.rereading = true
		for _, i := range r.changed {
			out := &s.Threads[i]
			if t := r.byAddr[out.Addr]; t != nil && r.again(t) {
				r.stack(t, out)
			}
		}
		r.rereading = false
	}
	r.compareOnce(s)
}

// compareOnce compares the code objects that are under suspicion, and gives up every stack with one that is another now.
func (r *Reader) compareOnce(s *Snapshot) {
	if len(r.check) == 0 {
		return
	}
	width := r.l.Code.KeyTo - r.l.Code.KeyFrom
	if cap(r.keys) < width*len(r.check) {
		r.keys = make([]byte, 2*width*len(r.check))
	}
	r.ranges = r.ranges[:0]
	for i, c := range r.check {
		r.ranges = append(r.ranges, proc.Range{Addr: c.addr + uint64(r.l.Code.KeyFrom),
			Buf: r.keys[:cap(r.keys)][width*i : width*(i+1)]})
	}
	n, err := r.readAll(r.ranges)
	if err != nil {
		n = 0
	}
	for i, c := range r.check {
		if i < n && bytes.Equal(r.ranges[i].Buf, c.key) {
			continue
		}
		delete(r.codes.byAddr, c.addr)
		c.dead, c.checked = true, 0
		r.condemn(s, c)
	}
	r.check = r.check[:0]
}

// condemn marks every stack with a code object that is not what it was.
func (r *Reader) condemn(s *Snapshot, c *Code) {
	for i := range s.Threads {
		for _, f := range s.Threads[i].Frames {
			if f.Code == c {
				s.Threads[i].Fault, s.Threads[i].Frames, s.Threads[i].Same = FaultTorn, nil, false
				r.changed = append(r.changed, i)
				break
			}
		}
	}
}
