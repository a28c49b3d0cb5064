package device

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestIdleCauses has one gap of each kind on one stream, with answers worked out by hand.
func TestIdleCauses(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("cpu_op", "aten::mul", 1, 1, 0, 20, "")
	b.Launch("cudaLaunchKernel", 5, 10, "kernel", "k0", 7, 15, 100)
	b.Launch("cudaLaunchKernel", 21, 25, "kernel", "k1", 7, 110, 200) // queued long before: 10 µs of the device's own
	b.Add("cuda_runtime", "cudaStreamSynchronize", 1, 1, 30, 202, "")
	b.Add("cpu_op", "aten::add", 1, 1, 215, 240, "")
	b.Launch("cudaLaunchKernel", 220, 230, "kernel", "k2", 7, 235, 300) // 200–220 after a sync, 220–235 launching
	b.Add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1, 1, 305, 380, "")
	b.Launch("cudaLaunchKernel", 400, 405, "kernel", "k3", 7, 405, 500) // 300–400 input, 400–405 launching
	b.Launch("cudaLaunchKernel", 550, 555, "kernel", "k4", 7, 556, 600) // 500–550 host
	b.Launch("cudaLaunchKernel", 560, 565, "kernel", "k5", 7, 700, 710) // 600–700 queued, but too long for the device's own gap
	b.Add("kernel", "k6", 0, 7, 720, 730, `"correlation": 999, "device": 0, "stream": 7`)
	trace, s := b.Trace()
	g := GPUs(trace, s)
	if len(g) != 1 {
		t.Fatalf("%d devices", len(g))
	}
	got := map[string]model.Dur{}
	for _, c := range g[0].IdleBy {
		got[c.Cause] += c.Dur
	}
	want := map[string]model.Dur{IdleKernel: slowtrace.Micros(10), IdleSync: slowtrace.Micros(20), IdleLaunch: slowtrace.Micros(15 + 5 + 6),
		IdleInput: slowtrace.Micros(100), IdleHost: slowtrace.Micros(50), IdleWait: slowtrace.Micros(100),
		IdleUnknown: slowtrace.Micros(10)}
	for cause, d := range want {
		if got[cause] != d {
			t.Errorf("%s: %v, want %v", cause, got[cause].Std(), d.Std())
		}
	}
	if len(got) != len(want) {
		t.Errorf("causes %v", got)
	}
	if d := g[0].Launches; d.Count != 6 || d.WithoutCalls != 1 || d.QueueEmpty != 4 {
		t.Errorf("launches %+v", d)
	}
}

func TestBreakdownOfDevice(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("kernel", "gemm", 0, 7, 0, 100, `"device": 0, "stream": 7`)
	b.Add("kernel", "ncclDevKernel_AllReduce", 0, 20, 50, 150, `"device": 0, "stream": 20`)
	b.Add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 21, 140, 170, `"device": 0, "stream": 21, "bytes": 1000`)
	b.Add("kernel", "relu", 0, 7, 200, 210, `"device": 0, "stream": 7`)
	trace, s := b.Trace()
	g := GPUs(trace, s)[0]
	want := GPU{Span: slowtrace.Micros(210), Busy: slowtrace.Micros(180), Compute: slowtrace.Micros(110),
		Communication: slowtrace.Micros(100), Overlap: slowtrace.Micros(50), Copy: slowtrace.Micros(30),
		ExposedCommunication: slowtrace.Micros(50), ExposedCopy: slowtrace.Micros(20), Idle: slowtrace.Micros(30)}
	if g.Span != want.Span || g.Busy != want.Busy || g.Compute != want.Compute || g.Communication != want.Communication ||
		g.Overlap != want.Overlap || g.Copy != want.Copy || g.ExposedCommunication != want.ExposedCommunication ||
		g.ExposedCopy != want.ExposedCopy || g.Idle != want.Idle {
		t.Errorf("got %+v, want %+v", g, want)
	}
}

// TestDeviceAccountsClose: on every trace, parts sum to the whole.
func TestDeviceAccountsClose(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, g := range GPUs(trace, s) {
			if g.Busy+g.Idle != g.Span || g.Compute+g.ExposedCommunication+g.ExposedCopy != g.Busy || g.ExposedCopy < 0 {
				t.Errorf("device %d: %+v", g.Device, g)
			}
			var idle model.Dur
			for _, c := range g.IdleBy {
				if c.Dur < 0 || c.Longest > c.Dur {
					t.Errorf("cause %+v", c)
				}
				idle += c.Dur
			}
			if idle != g.Idle {
				t.Errorf("device %d: idle causes sum to %v, idle is %v", g.Device, idle.Std(), g.Idle.Std())
			}
			if g.SMEfficiency > 1 || g.Occupancy > 1 || g.TensorCores > 1 {
				t.Errorf("device %d: share above 1: %v %v %v", g.Device, g.SMEfficiency, g.Occupancy, g.TensorCores)
			}
		}
	})
}
