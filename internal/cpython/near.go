package cpython

import (
	"cmp"
	"slices"

	"bottleneck/internal/proc"
)

// Ranges that lie near each other are read as one piece: each piece costs the kernel as much as some KiB. A gap shorter than
// a page lies in the pages of its two neighbours, so that one piece can be read where both can.
const (
	maxGap  = 1024     // bytes between two ranges of one piece
	maxSpan = 32 << 10 // bytes of a piece
)

// near reads small ranges in few pieces.
type near struct {
	ranges []proc.Range // as asked for, by address
	counts []int        // ranges of each piece
	pieces []proc.Range
	mem    []byte // of all pieces that hold more than one range
	apart  bool   // what lies between ranges cannot be read: each is a piece
}

// merge returns the pieces to be read instead of ranges; scatter fills those then. Pieces are valid until the next call.
func (n *near) merge(ranges []proc.Range) []proc.Range {
	n.ranges = append(n.ranges[:0], ranges...)
	slices.SortFunc(n.ranges, func(x, y proc.Range) int { return cmp.Compare(x.Addr, y.Addr) })
	n.pieces, n.counts = n.pieces[:0], n.counts[:0]
	if n.apart {
		return ranges
	}
	used := 0
	for i := 0; i < len(n.ranges); {
		count, length := together(n.ranges[i:])
		piece := n.ranges[i]
		if count > 1 {
			if used+length > len(n.mem) { // pieces before it keep the old memory
				n.mem, used = make([]byte, 2*(used+length)), 0
			}
			piece.Buf = n.mem[used : used+length]
			used += length
		}
		n.pieces, n.counts = append(n.pieces, piece), append(n.counts, count)
		i += count
	}
	return n.pieces
}

// together counts the leading ranges, in order of address, that make one piece, and gives its length.
func together(ranges []proc.Range) (count, length int) {
	from := ranges[0].Addr
	length = len(ranges[0].Buf)
	for count = 1; count < len(ranges); count++ {
		next := &ranges[count]
		at := next.Addr - from
		end := at + uint64(len(next.Buf))
		if at > uint64(length+maxGap) || end > maxSpan {
			break
		}
		length = max(length, int(end))
	}
	return count, length
}

// scatter copies what was read to the ranges.
func (n *near) scatter() {
	at := 0
	for i, count := range n.counts {
		piece := &n.pieces[i]
		if count > 1 {
			for _, r := range n.ranges[at : at+count] {
				copy(r.Buf, piece.Buf[r.Addr-piece.Addr:])
			}
		}
		at += count
	}
}
