package device

import (
	"testing"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestKernelTable(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("cpu_op", "aten::linear", 1, 1, 0, 50, "")
	b.Add("cpu_op", "aten::addmm", 1, 1, 1, 40, "")
	b.Launch("cudaLaunchKernel", 5, 10, "kernel", "ampere_sgemm_64x64", 7, 20, 120)
	b.Launch("cudaLaunchKernel", 11, 12, "kernel", "ampere_sgemm_64x64", 7, 130, 180)
	b.Add("cpu_op", "aten::mm", 1, 1, 60, 80, "")
	b.Launch("cudaLaunchKernel", 61, 62, "kernel", "ampere_sgemm_64x64", 8, 200, 210)
	b.Launch("cudaLaunchKernel", 63, 64, "kernel", "ampere_h16816_relu", 7, 220, 225)
	trace, s := b.Trace()
	got := Kernels([]*model.Trace{trace}, s)
	if len(got) != 2 {
		t.Fatalf("%d kernels", len(got))
	}
	k := got[0]
	if k.Name != "ampere_sgemm_64x64" || k.Class != naming.ClassMatmul || k.Count != 3 || k.Dur != slowtrace.Micros(160) ||
		k.Min != slowtrace.Micros(10) || k.Max != slowtrace.Micros(100) || k.Stream != -1 || k.Device != 0 || k.Launcher != "aten::addmm" ||
		k.Where.Op != "aten::linear" || k.TensorCores {
		t.Errorf("%+v", k)
	}
	if !got[1].TensorCores || got[1].Stream != 7 {
		t.Errorf("%+v", got[1])
	}
}

func TestCopies(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Launch("cudaLaunchKernel", 0, 5, "kernel", "k", 7, 10, 110)
	b.Corr++
	b.Add("cuda_runtime", "cudaMemcpyAsync", 1, 1, 20, 160, `"correlation": 2`)
	b.Add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 8, 60, 160, `"correlation": 2, "device": 0, "stream": 8, "bytes": 1000000`)
	trace, s := b.Trace()
	got := Copies(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d kinds", len(got))
	}
	c := got[0]
	if c.Direction != "HtoD" || !c.Pageable || c.Bytes != 1e6 || c.Dur != slowtrace.Micros(100) || c.Exposed != slowtrace.Micros(50) ||
		c.Waited != slowtrace.Micros(140) || c.GBs() != 10 {
		t.Errorf("%+v, %v GB/s", c, c.GBs())
	}
}

func TestStreams(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Launch("cudaLaunchKernel", 0, 5, "kernel", "a", 7, 10, 20)
	b.Launch("cudaLaunchKernel", 6, 8, "kernel", "b", 7, 25, 30)     // queued: 5 µs
	b.Launch("cudaLaunchKernel", 9, 11, "kernel", "c", 7, 80, 90)    // queued, 50 µs
	b.Launch("cudaLaunchKernel", 95, 97, "kernel", "d", 7, 100, 101) // late: 10 µs
	trace, s := b.Trace()
	got := Streams(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d streams", len(got))
	}
	g := got[0]
	if g.KernelWait != slowtrace.Micros(5) || g.OtherWait != slowtrace.Micros(50) || g.HostWait != slowtrace.Micros(10) ||
		g.Queue.Max != 3 || g.Queue.Full != 0 {
		t.Errorf("%+v", g)
	}
	// a: 0–10, b: 6–25, c: 9–80, d: 95–100; 10+19+71+5 over 0–100
	if g.Queue.Mean != 1.05 {
		t.Errorf("mean queue %v", g.Queue.Mean)
	}
}
