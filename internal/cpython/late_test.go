package cpython

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"bottleneck/internal/proc"
)

// aged is a memory whose pieces that are read alone are from another moment: a word in them has the value that it had then.
// What is read in one batch is from now.
type aged struct {
	proc.Memory
	now, then uint64
	met       int
}

func (a *aged) Read(addr uint64, buf []byte) error {
	if err := a.Memory.Read(addr, buf); err != nil {
		return err
	}
	if len(buf) <= chunkHeader+80 { // no chunk with frames
		return nil
	}
	for at := 0; at+8 <= len(buf); at += 8 {
		if word(buf, at) == a.now {
			binary.LittleEndian.PutUint64(buf[at:], a.then)
			a.met++
		}
	}
	return nil
}

// TestLateChunk reads a generator whose caller's data stack is copied later than the rest, as it is after a stack that was
// given up at its first frame: the caller may be elsewhere by then, so that the stack must be read again, as one piece.
func TestLateChunk(t *testing.T) {
	for _, minor := range []int{11, 12, 13, 14, 15} {
		t.Run(fmt.Sprintf("3.%d", minor), func(t *testing.T) {
			text, err := os.ReadFile(fmt.Sprintf("testdata/3.%d.memory.txt", minor))
			if err != nil {
				t.Fatal(err)
			}
			mem, err := proc.ParseRecorded(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var runtime uint64
			_, rest, _ := bytes.Cut(text, []byte("# runtime "))
			if _, err := fmt.Sscanf(string(rest[:32]), "%x", &runtime); err != nil {
				t.Fatal(err)
			}
			in, err := At(mem, runtime, 3<<24|uint32(minor)<<16)
			if err != nil {
				t.Fatal(err)
			}
			old := &aged{Memory: mem}
			r := NewReader(in, old, 100)
			for range 2 {
				consumer(t, r)
			}
			want := consumer(t, r)
			old.now, old.then = want.Code.start+uint64(want.Offset), want.Code.start
			for _, th := range r.order {
				th.chunks = th.chunks[:0]
			}
			got := consumer(t, r)
			if old.met == 0 {
				t.Fatal("no chunk was read alone")
			}
			if got.Offset != want.Offset {
				t.Errorf("the generator's caller stands at %d, want %d", got.Offset, want.Offset)
			}
		})
	}
}

// consumer is the frame that calls a generator in the next snapshot; one without code where its stack is given up.
func consumer(t *testing.T, r *Reader) RawFrame {
	t.Helper()
	var s Snapshot
	if err := r.Take(&s); err != nil {
		t.Fatal(err)
	}
	for _, th := range s.Threads {
		for _, f := range th.Frames {
			if f.Code.Function == "consume" {
				return f
			}
		}
	}
	return RawFrame{}
}
