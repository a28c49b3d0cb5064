//go:build linux

package ingest

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

var bigFiles = []string{
	"segment-anything-fast/eager_False.json.gz", "tracelens-big-mi300/mi300_owlv2-large.json.gz",
	"hta-df-index-resolver-v100/trace_8_rank_1.json.gz",
}

// cpuRate reports bytes per second of CPU time, which other programs on the machine do not disturb as they do the
// clock. It returns what to call at the end.
func cpuRate(b *testing.B, size int) func() {
	begin := cpuTime(b)
	return func() {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-begin).Seconds(), "cpuMB/s")
	}
}

func cpuTime(b *testing.B) time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkColumns reads raw JSON from memory into the model's columns, in order, linked, strings carried over, by one
// goroutine; BenchmarkColumnsOfTwo by two.
func BenchmarkColumns(b *testing.B)      { columns(b, 1) }
func BenchmarkColumnsOfTwo(b *testing.B) { columns(b, 2) }

func columns(b *testing.B, readers int) {
	for _, name := range bigFiles {
		b.Run(filepath.Base(name), func(b *testing.B) {
			text := realText(b, name)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer cpuRate(b, len(text))()
			for b.Loop() {
				s := &model.Session{Strings: &model.Strings{}}
				build := newBuilder(kineto.NewBytesScanner(text), TraceOptions{})
				build.readers, build.pieceSize = readers, pieceSize
				if err := build.read(name); err != nil {
					b.Fatal(err)
				}
				if build.store(s, name).Events.Len() < 1000 {
					b.Fatal("events are missing")
				}
			}
		})
	}
}

// BenchmarkByteLoop is the yardstick of the issue: a plain loop that looks at every byte.
func BenchmarkByteLoop(b *testing.B) {
	text := realText(b, bigFiles[0])
	b.SetBytes(int64(len(text)))
	defer cpuRate(b, len(text))()
	for b.Loop() {
		var sum uint64
		for _, c := range text {
			sum = sum*31 + uint64(c)
		}
		if sum == 0 {
			b.Fatal("no text")
		}
	}
}
