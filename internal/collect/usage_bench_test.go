//go:build linux

package collect

import (
	"fmt"
	"os/exec"
	"runtime"
	"testing"

	"bottleneck/internal/record"
)

// BenchmarkUsage is what a look at the memory, faults and disks of a tree costs the launcher, and what share of a core that is four times a
// second. The looks become seldom before it is more than usageShare allows, as with sixteen.
func BenchmarkUsage(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("processes=%d", n), func(b *testing.B) {
			log, err := openTreeLog(b.TempDir() + "/tree.jsonl.gz")
			if err != nil {
				b.Fatal(err)
			}
			defer log.f.Close()
			t := newTree(&Sampler{log: log})
			for range n {
				cmd := exec.Command("sleep", "600")
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
				t.order = append(t.order, &treeProcess{SampleProcess: record.SampleProcess{PID: cmd.Process.Pid}})
			}
			runtime.LockOSThread() // as the sampler's thread is
			defer runtime.UnlockOSThread()
			from := threadCPU()
			b.ResetTimer()
			for i := range b.N {
				t.noteUsage(int64(i) * usageEvery)
				log.pending = log.pending[:0]
			}
			cost := float64(threadCPU()-from) / float64(b.N)
			b.ReportMetric(cost/1e3, "µs-CPU/look")
			b.ReportMetric(100*cost/float64(usageEvery), "%-of-a-core")
		})
	}
}
