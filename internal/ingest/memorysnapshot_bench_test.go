//go:build linux

package ingest

import (
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/testkit"
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkSnapshotOfAGigabyte opens and analyses a real snapshot that was repeated until it has a gigabyte.
func BenchmarkSnapshotOfAGigabyte(b *testing.B) {
	for _, name := range []string{"cs336_bcrafton.pickle", "cs336_hanmin_forward_fp32.pickle"} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "big.pickle")
			size := repeatSnapshot(b, name, path, 1e9)
			b.SetBytes(size)
			defer debug.SetGCPercent(debug.SetGCPercent(40)) // as package cli does
			debug.FreeOSMemory()
			resetPeak(b)
			defer cpuRate(b, int(size))()
			for b.Loop() {
				s, err := Open(context.Background(), []string{path}, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if u := allocations.Snapshots(s.Snapshots[0], s.Strings); u[0].Events < 1e6 {
					b.Fatal("events are missing")
				}
			}
			b.ReportMetric(float64(peakMemory(b))/1e6, "peakMB")
			b.ReportMetric(10, "goal-s")
			b.ReportMetric(1000, "goal-peakMB")
		})
	}
}

func repeatSnapshot(b *testing.B, name, path string, size int64) int64 {
	b.Helper()
	s := openSnapshot(b, realSnapshot(b, name))
	var one bytes.Buffer
	if err := testkit.MemorySnapshot(&one, s.Strings, s.Snapshots[0], 1); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := testkit.MemorySnapshot(f, s.Strings, s.Snapshots[0], int(size)/one.Len()+1); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// resetPeak and peakMemory bound the memory that a benchmark needs, in bytes, as the system counts it.
func resetPeak(b *testing.B) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Logf("the peak is that of the whole process: %v", err)
	}
}

func peakMemory(b *testing.B) int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
