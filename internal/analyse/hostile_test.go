package analyse

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestHostileTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 1000 {
		trace, s := slowtrace.Random(r)
		for _, opt := range []keyaverages.Options{{}, {ByShapes: true, ByStack: 2}, {PythonFunctions: true},
			{IgnorePython: true, FloatMemoryTimes: true}} {
			var self, top model.Dur
			events, _ := keyaverages.FunctionEvents(trace, s, opt)
			for _, e := range events {
				if e.DeviceType == keyaverages.OnCPU && !e.IsAsync {
					self += e.SelfCPU
					if e.Parent < 0 {
						top += e.CPU
					}
				}
			}
			if self != top {
				t.Fatalf("trace %d: self times sum to %d of %d", n, self, top)
			}
		}
		for _, g := range device.GPUs(trace, s) {
			var idle model.Dur
			for _, c := range g.IdleBy {
				idle += c.Dur
			}
			if idle != g.Idle || g.Compute+g.ExposedCommunication+g.ExposedCopy+g.Idle != g.Span {
				t.Fatalf("trace %d: device account is open: %+v", n, g)
			}
		}
		for _, p := range account.StepPartsOf(trace, s) {
			var sum model.Dur
			for _, d := range p.Parts {
				sum += d
			}
			if sum != p.End.Sub(p.Start) {
				t.Fatalf("trace %d: step parts sum to %d of %d", n, sum, p.End.Sub(p.Start))
			}
		}
		device.Kernels([]*model.Trace{trace, trace}, s)
		collectives.Communications([]*model.Trace{trace, trace}, s)
		collectives.Clocks([]*model.Trace{trace, trace}, s)
		device.Copies(trace, s)
		device.Streams(trace, s)
		allocations.UseOf(trace, s)
		device.RooflineOf(trace, s)
		device.Sequences(trace, s, 1, 5)
		device.Bandwidths(trace, s)
	}
}

// TestEmptyTrace: a file without events gives empty tables.
func TestEmptyTrace(t *testing.T) {
	trace, s := (&model.Trace{}), &model.Strings{}
	s.Intern("")
	if n := len(keyaverages.Of([]*model.Trace{trace}, s, keyaverages.Options{})) + len(device.GPUs(trace, s)) +
		len(device.Kernels([]*model.Trace{trace}, s)) + len(device.Copies(trace, s)) + len(device.Streams(trace, s)) +
		len(collectives.Communications([]*model.Trace{trace}, s)) + len(allocations.UseOf(trace, s)) +
		len(device.Sequences(trace, s, 3, 5)) + len(device.Bandwidths(trace, s)); n != 0 {
		t.Errorf("%d rows from nothing", n)
	}
	if device.RooflineOf(trace, s) != nil {
		t.Error("a roofline from nothing")
	}
	keyaverages.Of(nil, s, keyaverages.Options{})
}

// TestDeepStacks asks for the stacks of 12,000 Python calls within each other, as damaged times make them: each has an end, and they are
// not all in memory together, which would be 1 GB.
func TestDeepStacks(t *testing.T) {
	const deep = 12_000
	b := &slowtrace.Builder{}
	for i := range deep {
		b.Add("python_function", fmt.Sprintf("a.py(%d): f", i), 1, 1, float64(i), float64(3*deep-i), "")
	}
	trace, s := b.Trace()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	events, _ := keyaverages.FunctionEvents(trace, s, keyaverages.Options{PythonFunctions: true})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("%d MB for %d events", used>>20, len(events))
	}
	stack := events[len(events)-1].Stack()
	if len(stack) != keyaverages.MaxStackEntries || stack[0] != fmt.Sprintf("a.py(%d): f", deep-2) {
		t.Errorf("%d entries, the first %q", len(stack), stack[:min(1, len(stack))])
	}
}
