package cpython

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"bottleneck/internal/proc"
)

// TestNear reads ranges in every constellation as one by one, in fewer pieces, and touches no page that none of them lies in.
func TestNear(t *testing.T) {
	const base, size, page = 0x10000, 1 << 17, 4096
	text := make([]byte, size)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte(rnd.Uint32())
	}
	mem := &proc.Recorded{}
	mem.Add(base, text)
	var n near
	fewer := 0
	for range 500 {
		spread := 1 + rnd.IntN(size-200)
		pages := map[uint64]bool{}
		var ranges []proc.Range
		for range rnd.IntN(30) {
			r := proc.Range{Addr: base + uint64(rnd.IntN(spread)), Buf: make([]byte, 1+rnd.IntN(200))}
			ranges = append(ranges, r)
			pages[r.Addr/page], pages[(r.Addr+uint64(len(r.Buf))-1)/page] = true, true
		}
		pieces := n.merge(ranges)
		fewer += len(ranges) - len(pieces)
		for _, p := range pieces {
			for at := p.Addr / page; at <= (p.Addr+uint64(len(p.Buf))-1)/page; at++ {
				if !pages[at] {
					t.Fatalf("page %#x is read, in which no range lies", at*page)
				}
			}
		}
		if got, err := mem.ReadMany(pieces); err != nil || got < len(pieces) {
			t.Fatalf("%d of %d pieces: %v", got, len(pieces), err)
		}
		n.scatter()
		for _, r := range ranges {
			if at := int(r.Addr - base); !bytes.Equal(r.Buf, text[at:at+len(r.Buf)]) {
				t.Fatalf("%d bytes at %#x are not those of the memory", len(r.Buf), r.Addr)
			}
		}
	}
	if fewer < 1000 {
		t.Errorf("only %d pieces were saved", fewer)
	}
}

// Addresses are a target's: ranges at the end of the address space and over each other do not confuse it.
func TestNearOfGarbage(t *testing.T) {
	var n near
	all := []uint64{^uint64(0), ^uint64(0) - 8, 0, 1, 0x1000, 0x1000, 0x1004, 1 << 63}
	ranges := make([]proc.Range, len(all))
	for i, at := range all {
		ranges[i] = proc.Range{Addr: at, Buf: make([]byte, 112)}
	}
	held := 0
	pieces := n.merge(ranges)
	for _, p := range pieces {
		held += len(p.Buf)
	}
	if held > 4*maxSpan || len(pieces) < 3 {
		t.Errorf("%d pieces of %d bytes", len(pieces), held)
	}
	n.scatter()
	if got := n.merge(nil); len(got) != 0 {
		t.Errorf("no ranges make %d pieces", len(got))
	}
}
