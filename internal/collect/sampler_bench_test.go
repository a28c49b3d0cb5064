package collect

import (
	"context"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// BenchmarkTake reads a busy thread with 23 frames: the work of one sample without the timer and the file.
func BenchmarkTake(b *testing.B) {
	for version, python := range pythons(b) {
		for _, kind := range []string{"busy", "asleep"} {
			b.Run(version+"/"+kind, func(b *testing.B) {
				args := []string{"../../bench/sampler/deep.py", "1000000000"}
				if kind == "asleep" {
					args = []string{
						"-c", "import time\ndef f(n):\n  if n: f(n-1)\n  else: print('ready', flush=True); time.sleep(1000)\nf(22)",
					}
				}
				p := startProgram(b, python, args...)
				if !strings.HasPrefix(p.line(b), "ready") {
					b.Fatal("no ready line")
				}
				mem := proc.OpenMemory(p.cmd.Process.Pid)
				in, err := cpython.Find(p.cmd.Process.Pid, mem)
				if err != nil {
					b.Fatal(err)
				}
				r := cpython.NewReader(in, mem, 1000)
				var s cpython.Snapshot
				b.ReportAllocs()
				for b.Loop() {
					if err := r.Take(&s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSampler runs the sampler at 1 kHz for a while and reports its CPU time per sample, timer included.
func BenchmarkSampler(b *testing.B) {
	p := startProgram(b, newestPython(b), "../../bench/sampler/deep.py", "1000000000")
	p.line(b)
	for b.Loop() {
		s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Hz: 1000, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		timer := time.NewTimer(2 * time.Second)
		<-timer.C
		st := s.Stop()
		b.ReportMetric(float64(st.CPU.Microseconds())/float64(st.Samples), "µs-CPU/sample")
		b.ReportMetric(float64(st.Samples), "samples")
	}
}

// BenchmarkMany samples twenty processes of eight threads at 100 Hz and reports the share of one core that it takes.
func BenchmarkMany(b *testing.B) {
	p := startProgram(b, newestPython(b), "../../bench/sampler/many.py", "8")
	p.line(b)
	for b.Loop() {
		s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		timer := time.NewTimer(4 * time.Second)
		<-timer.C
		st := s.Stop()
		b.ReportMetric(100*st.CPU.Seconds()/st.Wall.Seconds(), "%core")
		b.ReportMetric(float64(st.CPU.Nanoseconds())/1e3/float64(st.Samples), "µs-CPU/sample")
	}
}
