package cpython_test

import (
	"errors"
	"fmt"
	"testing"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// mortal is the memory of a process that ends, or loses a mapping, at a certain read.
type mortal struct {
	of    proc.Memory
	left  int
	error error // nil: ranges become unreadable
}

// Read implements proc.Memory.
func (m *mortal) Read(addr uint64, buf []byte) error {
	if m.left--; m.left < 0 {
		if m.error == nil {
			return fmt.Errorf("read %#x: %w", addr, proc.ErrUnreadable)
		}
		return m.error
	}
	return m.of.Read(addr, buf)
}

// ReadMany implements proc.Memory.
func (m *mortal) ReadMany(ranges []proc.Range) (int, error) {
	if m.left--; m.left < 0 {
		return 0, m.error
	}
	return m.of.ReadMany(ranges)
}

// TestProcessEnds lets the process end, and lets memory vanish, at every single read. Whatever is returned must be an
// error or whole stacks.
func TestProcessEnds(t *testing.T) {
	for _, rec := range recordings(t) {
		for _, cause := range []error{proc.ErrGone, nil} {
			for n := 0; n < 20000; n++ {
				m := &mortal{rec.mem, n, cause}
				r, err := rec.open(m)
				if err != nil {
					if cause != nil && !errors.Is(err, cause) && !errors.Is(err, cpython.ErrNotReady) {
						t.Fatalf("%s, read %d: %v", rec.name, n, err)
					}
					continue
				}
				var s cpython.Snapshot
				if err := r.Take(&s); err != nil {
					continue
				}
				for _, th := range s.Threads {
					if th.Fault == cpython.FaultNone && len(th.Frames) > 0 {
						if last := th.Frames[len(th.Frames)-1].Code.Function; last != "<module>" && last != "Thread._bootstrap" &&
							last != "_bootstrap" {
							t.Fatalf("%s, read %d: a stack that ends in %s was taken for whole", rec.name, n, last)
						}
					}
				}
				if m.left >= 0 {
					break // all reads were granted
				}
			}
		}
	}
}
