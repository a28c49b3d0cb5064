package cpython_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"bottleneck/internal/proc"
)

// inflated is a memory in which one word in so many that could be a length is a huge one. It notes the largest piece that
// is read at once.
type inflated struct {
	of      proc.Memory
	every   uint64
	seed    uint64
	huge    uint64
	largest int
}

// Read implements proc.Memory.
func (m *inflated) Read(addr uint64, buf []byte) error {
	m.largest = max(m.largest, len(buf))
	if err := m.of.Read(addr, buf); err != nil {
		return err
	}
	for at := (8 - int(addr%8)) % 8; at+8 <= len(buf); at += 8 {
		word := buf[at : at+8]
		where := (addr+uint64(at))/8 + m.seed
		if binary.LittleEndian.Uint64(word) < 1<<20 && where*0x9e3779b97f4a7c15>>32%m.every == 0 { // no address
			binary.LittleEndian.PutUint64(word, m.huge)
		}
	}
	return nil
}

// ReadMany implements proc.Memory.
func (m *inflated) ReadMany(ranges []proc.Range) (int, error) {
	for i, g := range ranges {
		if m.Read(g.Addr, g.Buf) != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}

// TestLengthsHaveCaps reads recorded memories whose lengths are huge, of either sign in 32 and 64 bits: no length that the
// program tells decides alone how much memory is taken.
func TestLengthsHaveCaps(t *testing.T) {
	const (
		mostAtOnce = 1 << 20  // a piece of the data stack
		mostInAll  = 64 << 20 // three snapshots with variables, names and tasks
	)
	var before, after runtime.MemStats
	for _, rec := range recordings(t) {
		for seed := range uint64(24) {
			m := &inflated{of: rec.mem, every: []uint64{2, 8, 32, 128}[seed%4], seed: seed,
				huge: []uint64{1 << 40, 0x7fffffff, ^uint64(0), 1<<63 - 1}[seed/4%4]}
			runtime.ReadMemStats(&before)
			readAll(&rec, m)
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > mostInAll || m.largest > mostAtOnce {
				t.Errorf("%s, seed %d: %d bytes read at once, %d allocated", rec.name, seed, m.largest, taken)
			}
		}
	}
}
