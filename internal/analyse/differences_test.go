package analyse

import (
	"path/filepath"
	"testing"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestDifferences holds our side of docs/differences.md: the traces in testdata/differences are small enough to check by
// hand, and the numbers here are those of that page. `make parity` shows the other side.
func TestDifferences(t *testing.T) {
	var s model.Strings
	load := func(name string) (*model.Trace, device.GPU) {
		trace := slowtrace.Read(t, filepath.Join(slowtrace.Testdata(), "differences", name+".json"), &s)
		return trace, device.GPUs(trace, &s)[0]
	}
	check := func(what string, got, want model.Dur) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got.Std(), want.Std())
		}
	}

	_, g := load("stream-argument")
	check("stream-argument: span", g.Span, slowtrace.Micros(190))
	check("stream-argument: compute", g.Compute, slowtrace.Micros(50))

	trace, _ := load("overlap-on-stream")
	check("overlap-on-stream: kernel wait", device.Streams(trace, &s)[0].KernelWait, slowtrace.Micros(10))

	_, g = load("short-stretches")
	check("short-stretches: compute", g.Compute, slowtrace.Micros(3.6))

	_, g = load("custom-allreduce")
	check("custom-allreduce: communication", g.Communication, slowtrace.Micros(40))
	check("custom-allreduce: compute", g.Compute, slowtrace.Micros(60))

	trace, g = load("no-launch")
	check("no-launch: idle", g.Idle, slowtrace.Micros(90))
	if k := device.Kernels([]*model.Trace{trace}, &s); len(k) != 2 {
		t.Errorf("no-launch: %d kernels", len(k))
	}

	trace, _ = load("wrapper-twice")
	rows := map[string]keyaverages.Row{}
	for _, k := range keyaverages.Of([]*model.Trace{trace}, &s, keyaverages.Options{}) {
		rows[k.Name] = k
	}
	check("wrapper-twice: linear", rows["aten::linear"].Device, slowtrace.Micros(200))
	check("wrapper-twice: linear itself", rows["aten::linear"].SelfDevice, 0)
	check("wrapper-twice: addmm itself", rows["aten::addmm"].SelfDevice, slowtrace.Micros(200))
	check("wrapper-twice: the kernel", rows["sgemm"].SelfDevice, slowtrace.Micros(200))
}
