package analyse

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"bottleneck/internal/model"
)

// randomTrace is a trace whose rows overlap, repeat, lack details and point at one another as they come; only the order of
// rows, which every reader guarantees, holds.
func randomTrace(r *rand.Rand) (*model.Trace, *model.Strings) {
	b := &builder{}
	names := []string{"aten::mm", "ProfilerStep#1", "ProfilerStep#2", "nccl:all_reduce", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaMalloc", "ncclDevKernel_AllReduce",
		"Memcpy HtoD (Pageable -> Device)", "enumerate(DataLoader)#x.__next__", "autograd::engine::evaluate_function: X", "Stream Wait Event", "aten::conv2d", ""}
	cats := []string{"cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "overhead"}
	for range 5 + r.IntN(60) {
		start := float64(r.IntN(200))
		args := fmt.Sprintf(`"correlation": %d, "External id": %d, "device": %d, "stream": %d, "wait_on_stream": %d, "wait_on_cuda_event_record_corr_id": %d, "bytes": %d, "Sequence number": %d,
			"Input Dims": [[%d, 3], [3, 4]], "Fwd thread id": %d`,
			r.IntN(20), r.IntN(20), r.IntN(2), r.IntN(3), r.IntN(3), r.IntN(20), r.IntN(1000)-1, r.IntN(5)-1, r.IntN(5), r.IntN(3))
		if r.IntN(4) == 0 {
			args += `, "Collective name": "allreduce", "Group size": 2, "dtype": "Float", "In msg nelems": 5`
		}
		b.add(cats[r.IntN(len(cats))], names[r.IntN(len(names))], r.IntN(2), r.IntN(3), start, start+float64(r.IntN(100)), args)
	}
	for range r.IntN(20) {
		b.memory(float64(r.IntN(250)), r.IntN(5), r.IntN(200)-100, r.IntN(500))
	}
	t, s := b.trace()
	ev := &t.Events
	for i := range ev.Len() { // links that a damaged file could give
		if r.IntN(10) == 0 && ev.Kind[i] != model.KindRuntime {
			ev.Detail[i] = -1
		}
		if r.IntN(20) == 0 {
			ev.Link[i], ev.Op[i] = model.NoEvent, model.NoEvent
		}
	}
	return t, s
}

// shifted is a copy of a trace in which each device row begins up to 4 µs later, as another rank of the same job might.
func shifted(t *model.Trace) *model.Trace {
	out := *t
	out.Events.Start, out.Events.Dur = slices.Clone(t.Events.Start), slices.Clone(t.Events.Dur)
	for i := range out.Events.Start {
		if by := model.Dur(i%5) * 1000; t.Events.Kind[i].Device() && out.Events.Dur[i] > by {
			out.Events.Start[i] += model.Time(by)
			out.Events.Dur[i] -= by
		}
	}
	return &out
}

func TestHostileTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 1000 {
		trace, s := randomTrace(r)
		for _, opt := range []KeyAveragesOptions{{}, {ByShapes: true, ByStack: 2}, {PythonFunctions: true}, {IgnorePython: true, FloatMemoryTimes: true}} {
			var self, top model.Dur
			events, _ := FunctionEvents(trace, s, opt)
			for _, e := range events {
				if e.DeviceType == OnCPU && !e.IsAsync {
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
		for _, g := range GPUs(trace, s) {
			var idle model.Dur
			for _, c := range g.IdleBy {
				idle += c.Dur
			}
			if idle != g.Idle || g.Compute+g.ExposedCommunication+g.ExposedCopy+g.Idle != g.Span {
				t.Fatalf("trace %d: device account is open: %+v", n, g)
			}
		}
		checkPath(t, CriticalPath(trace, s, trace.From, trace.To))
		for _, p := range StepPartsOf(trace, s) {
			var sum model.Dur
			for _, d := range p.Parts {
				sum += d
			}
			if sum != p.End.Sub(p.Start) {
				t.Fatalf("trace %d: step parts sum to %d of %d", n, sum, p.End.Sub(p.Start))
			}
		}
		checkRanksPath(t, CriticalPathOverRanks([]*model.Trace{trace, shifted(trace)}, s, trace.From, trace.To))
		Kernels([]*model.Trace{trace, trace}, s)
		Communications([]*model.Trace{trace, trace}, s)
		RankClocks([]*model.Trace{trace, trace}, s)
		Copies(trace, s)
		Streams(trace, s)
		MemoryUse(trace, s)
		RooflineOf(trace, s)
		Sequences(trace, s, 1, 5)
		Bandwidths(trace, s)
	}
}

// TestEmptyTrace: a file without events gives empty tables.
func TestEmptyTrace(t *testing.T) {
	trace, s := (&model.Trace{}), &model.Strings{}
	s.Intern("")
	if n := len(KeyAverages([]*model.Trace{trace}, s, KeyAveragesOptions{})) + len(GPUs(trace, s)) + len(Kernels([]*model.Trace{trace}, s)) + len(Copies(trace, s)) +
		len(Streams(trace, s)) + len(Communications([]*model.Trace{trace}, s)) + len(MemoryUse(trace, s)) + len(Sequences(trace, s, 3, 5)) + len(Bandwidths(trace, s)); n != 0 {
		t.Errorf("%d rows from nothing", n)
	}
	if RooflineOf(trace, s) != nil {
		t.Error("a roofline from nothing")
	}
	checkPath(t, CriticalPath(trace, s, 0, 0))
	KeyAverages(nil, s, KeyAveragesOptions{})
}

// TestDeepStacks asks for the stacks of 12,000 Python calls within each other, as damaged times make them: each has an end, and they are
// not all in memory together, which would be 1 GB.
func TestDeepStacks(t *testing.T) {
	const deep = 12_000
	b := &builder{}
	for i := range deep {
		b.add("python_function", fmt.Sprintf("a.py(%d): f", i), 1, 1, float64(i), float64(3*deep-i), "")
	}
	trace, s := b.trace()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	events, _ := FunctionEvents(trace, s, KeyAveragesOptions{PythonFunctions: true})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("%d MB for %d events", used>>20, len(events))
	}
	stack := events[len(events)-1].Stack()
	if len(stack) != MaxStackEntries || stack[0] != fmt.Sprintf("a.py(%d): f", deep-2) {
		t.Errorf("%d entries, the first %q", len(stack), stack[:min(1, len(stack))])
	}
}
