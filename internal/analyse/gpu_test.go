package analyse

import (
	"encoding/json"
	"strconv"
	"testing"

	"bottleneck/internal/model"
)

func number(us float64) json.Number { return json.Number(strconv.FormatFloat(us, 'f', -1, 64)) }

func rawArgs(body string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte("{"+body+"}"), &out); err != nil {
		panic(err)
	}
	return out
}

func us(v float64) model.Dur { return model.Dur(v * 1000) }

// TestIdleCauses has one gap of each kind on one stream, with answers worked out by hand.
func TestIdleCauses(t *testing.T) {
	b := &builder{}
	b.add("cpu_op", "aten::mul", 1, 1, 0, 20, "")
	b.launch("cudaLaunchKernel", 5, 10, "kernel", "k0", 7, 15, 100)
	b.launch("cudaLaunchKernel", 21, 25, "kernel", "k1", 7, 110, 200) // queued long before: 10 µs of the device's own
	b.add("cuda_runtime", "cudaStreamSynchronize", 1, 1, 30, 202, "")
	b.add("cpu_op", "aten::add", 1, 1, 215, 240, "")
	b.launch("cudaLaunchKernel", 220, 230, "kernel", "k2", 7, 235, 300) // 200–220 after a sync, 220–235 launching
	b.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1, 1, 305, 380, "")
	b.launch("cudaLaunchKernel", 400, 405, "kernel", "k3", 7, 405, 500) // 300–400 input, 400–405 launching
	b.launch("cudaLaunchKernel", 550, 555, "kernel", "k4", 7, 556, 600) // 500–550 host
	b.launch("cudaLaunchKernel", 560, 565, "kernel", "k5", 7, 700, 710) // 600–700 queued, but too long for the device's own gap
	b.add("kernel", "k6", 0, 7, 720, 730, `"correlation": 999, "device": 0, "stream": 7`)
	trace, s := b.trace()
	g := GPUs(trace, s)
	if len(g) != 1 {
		t.Fatalf("%d devices", len(g))
	}
	got := map[string]model.Dur{}
	for _, c := range g[0].IdleBy {
		got[c.Cause] += c.Dur
	}
	want := map[string]model.Dur{IdleKernel: us(10), IdleSync: us(20), IdleLaunch: us(15 + 5 + 6), IdleInput: us(100), IdleHost: us(50), IdleWait: us(100), IdleUnknown: us(10)}
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
	b := &builder{}
	b.add("kernel", "gemm", 0, 7, 0, 100, `"device": 0, "stream": 7`)
	b.add("kernel", "ncclDevKernel_AllReduce", 0, 20, 50, 150, `"device": 0, "stream": 20`)
	b.add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 21, 140, 170, `"device": 0, "stream": 21, "bytes": 1000`)
	b.add("kernel", "relu", 0, 7, 200, 210, `"device": 0, "stream": 7`)
	trace, s := b.trace()
	g := GPUs(trace, s)[0]
	want := GPU{Span: us(210), Busy: us(180), Compute: us(110), Communication: us(100), Overlap: us(50), Copy: us(30), ExposedCommunication: us(50), ExposedCopy: us(20), Idle: us(30)}
	if g.Span != want.Span || g.Busy != want.Busy || g.Compute != want.Compute || g.Communication != want.Communication || g.Overlap != want.Overlap ||
		g.Copy != want.Copy || g.ExposedCommunication != want.ExposedCommunication || g.ExposedCopy != want.ExposedCopy || g.Idle != want.Idle {
		t.Errorf("got %+v, want %+v", g, want)
	}
}

// TestDeviceAccountsClose: on every trace, parts sum to the whole.
func TestDeviceAccountsClose(t *testing.T) {
	onRealTraces(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
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

// TestSelfTimesClose: self times of all events, Python calls and removed duplicates included, sum to the top-level time.
func TestSelfTimesClose(t *testing.T) {
	onRealTraces(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		events, _ := FunctionEvents(trace, s, KeyAveragesOptions{})
		var self, top, selfDevice, topDevice model.Dur
		for _, e := range events {
			if e.DeviceType == OnDevice || e.IsAsync {
				continue
			}
			self += e.SelfCPU
			selfDevice += e.SelfDevice
			if e.Parent < 0 {
				top += e.CPU
				topDevice += e.Device
			}
		}
		if self != top || selfDevice != topDevice {
			t.Errorf("self %d, top level %d; device: %d, %d", self, top, selfDevice, topDevice)
		}
	})
}
