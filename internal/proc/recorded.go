package proc

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxRecorded bounds the bytes that a recorded memory holds.
const maxRecorded = 64 << 20

// Recorded is the memory of a process as it was once read: a test runs on it years later, on any machine.
// Its text form has one region a line, "<hex address> <hex bytes>"; lines that begin with # are remarks.
type Recorded struct {
	regions []region
}

type region struct {
	addr uint64
	data []byte
}

// ParseRecorded reads the text form.
func ParseRecorded(r io.Reader) (*Recorded, error) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), 2*maxRecorded)
	out := &Recorded{}
	total := 0
	for line := 1; s.Scan(); line++ {
		t := strings.TrimSpace(s.Text())
		if t == "" || t[0] == '#' {
			continue
		}
		a, h, ok := strings.Cut(t, " ")
		addr, err1 := strconv.ParseUint(a, 16, 64)
		data, err2 := hex.DecodeString(strings.TrimSpace(h))
		if total += len(data); !ok || err1 != nil || err2 != nil || total > maxRecorded {
			return nil, fmt.Errorf("recorded memory, line %d: not \"<hex address> <hex bytes>\"", line)
		}
		out.Add(addr, data)
	}
	return out, s.Err()
}

// Add puts a region in; where regions overlap the later one counts.
func (r *Recorded) Add(addr uint64, data []byte) {
	if len(data) == 0 {
		return
	}
	r.regions = append(r.regions, region{addr, append([]byte(nil), data...)})
}

// Read implements Memory; a range may span regions that touch.
func (r *Recorded) Read(addr uint64, buf []byte) error {
	have := make([]bool, len(buf))
	for _, g := range r.regions {
		from := max(addr, g.addr)
		to := min(addr+uint64(len(buf)), g.addr+uint64(len(g.data)))
		if from >= to {
			continue
		}
		copy(buf[from-addr:to-addr], g.data[from-g.addr:])
		for i := from - addr; i < to-addr; i++ {
			have[i] = true
		}
	}
	for i, ok := range have {
		if !ok {
			return fmt.Errorf("recorded memory at %#x: %w", addr+uint64(i), ErrUnreadable)
		}
	}
	return nil
}

// ReadMany implements Memory.
func (r *Recorded) ReadMany(ranges []Range) (int, error) {
	for i, g := range ranges {
		if err := r.Read(g.Addr, g.Buf); err != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}

// Recorder reads through to another memory and keeps what was read, so that a test's fixture can be made of a live
// process.
type Recorder struct {
	Of   Memory
	Kept Recorded
}

// Read implements Memory.
func (r *Recorder) Read(addr uint64, buf []byte) error {
	err := r.Of.Read(addr, buf)
	if err == nil {
		r.Kept.Add(addr, buf)
	}
	return err
}

// ReadMany implements Memory.
func (r *Recorder) ReadMany(ranges []Range) (int, error) {
	n, err := r.Of.ReadMany(ranges)
	for _, g := range ranges[:n] {
		r.Kept.Add(g.Addr, g.Buf)
	}
	return n, err
}

// WriteTo writes the text form.
func (r *Recorded) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for _, g := range r.regions {
		n, err := fmt.Fprintf(w, "%x %x\n", g.addr, g.data)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
