package record

import (
	"errors"
	"io"
)

// ErrBomb says that a file unpacks to more than anything real does.
var ErrBomb = errors.New("it unpacks to too many times its size: a decompression bomb, or damage")

// Counter counts the bytes that are read through it.
type Counter struct {
	R io.Reader
	N int64
}

func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

// Guard reads what Plain unpacks of Stored, and stops with ErrBomb where that is more than Floor bytes and more than Ratio times what was
// read of Stored.
type Guard struct {
	Plain        io.Reader
	Stored       *Counter
	Floor, Ratio int64
	out          int64
}

func (g *Guard) Read(p []byte) (int, error) {
	n, err := g.Plain.Read(p)
	g.out += int64(n)
	if g.out > g.Floor && g.out/g.Ratio > g.Stored.N {
		return n, ErrBomb
	}
	return n, err
}

// Bounds of what the files of a session unpack to. Rows of the agent unpack to 6 to 15 times their size, samples to 5 to 10 times,
// documents of JSON to 30 times, traces of the same few kernels to 60 times (DEFLATE cannot reach more than 1032, zstd can).
const (
	GuardRatio = 100
	GuardFloor = 32 << 20
	// Traces are read in full only by what analyses them; these are its bounds.
	traceRatio = 400
	traceFloor = 512 << 20
	// A packed session holds compressed files, and a trace or two that were not compressed yet.
	packRatio = 200
	packFloor = 256 << 20
)

// MaxRows is how many rows are read of one file of a session. Steps take 90 bytes each in memory, and a report of them as much again.
const MaxRows = 3_000_000
