package analyse

import (
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
)

// TestDifferences holds our side of docs/differences.md: the traces in testdata/differences are small enough to check by
// hand, and the numbers here are those of that page. `make parity` shows the other side.
func TestDifferences(t *testing.T) {
	var s model.Strings
	load := func(name string) (*model.Trace, GPU) {
		trace := readSlowly(t, filepath.Join("testdata", "differences", name+".json"), &s)
		return trace, GPUs(trace, &s)[0]
	}
	check := func(what string, got, want model.Dur) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got.Std(), want.Std())
		}
	}

	_, g := load("stream-argument")
	check("stream-argument: span", g.Span, us(190))
	check("stream-argument: compute", g.Compute, us(50))

	trace, _ := load("overlap-on-stream")
	check("overlap-on-stream: kernel wait", Streams(trace, &s)[0].KernelWait, us(10))

	_, g = load("short-stretches")
	check("short-stretches: compute", g.Compute, us(3.6))

	_, g = load("custom-allreduce")
	check("custom-allreduce: communication", g.Communication, us(40))
	check("custom-allreduce: compute", g.Compute, us(60))

	trace, g = load("no-launch")
	check("no-launch: idle", g.Idle, us(90))
	if k := Kernels([]*model.Trace{trace}, &s); len(k) != 2 {
		t.Errorf("no-launch: %d kernels", len(k))
	}

	trace, _ = load("python-between")
	p := CriticalPath(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	check("python-between: host", p.Kinds[PathHost], us(800))
	check("python-between: path", p.To.Sub(p.From), us(1000))

	trace, _ = load("after-window")
	step := trace.Steps[0]
	p = CriticalPath(trace, &s, step.Start, step.End)
	checkPath(t, p)
	check("after-window: path", p.To.Sub(p.From), us(1000))
	whole := CriticalPath(trace, &s, trace.From, trace.To) // HTA's number for the step
	checkPath(t, whole)
	check("after-window: path to the end of what was launched", whole.To.Sub(whole.From), us(2500))
	check("after-window: of it the kernel", whole.Kinds[PathCompute], us(2390))

	trace, _ = load("two-threads")
	p = CriticalPath(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	threads := map[model.LaneID]model.Dur{}
	for _, span := range p.Spans {
		threads[span.Lane] += span.Dur
	}
	check("two-threads: operators", p.Kinds[PathOp], us(1000))
	if len(threads) != 2 {
		t.Errorf("two-threads: the path goes through %d threads", len(threads))
	}

	trace, _ = load("graph-kernels")
	p = CriticalPath(trace, &s, trace.From, trace.To)
	checkPath(t, p)
	check("graph-kernels: path", p.To.Sub(p.From), us(1000))
	check("graph-kernels: kernels", p.Kinds[PathCompute], us(860))

	trace, _ = load("wrapper-twice")
	rows := map[string]KeyAverage{}
	for _, k := range KeyAverages([]*model.Trace{trace}, &s, KeyAveragesOptions{}) {
		rows[k.Name] = k
	}
	check("wrapper-twice: linear", rows["aten::linear"].Device, us(200))
	check("wrapper-twice: linear itself", rows["aten::linear"].SelfDevice, 0)
	check("wrapper-twice: addmm itself", rows["aten::addmm"].SelfDevice, us(200))
	check("wrapper-twice: the kernel", rows["sgemm"].SelfDevice, us(200))
}
