package criticalpath

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// checkPath: spans follow one another without holes and sum to the window.
func checkPath(t *testing.T, p *Path) {
	t.Helper()
	at := p.From
	var sum model.Dur
	for _, s := range p.Spans {
		if s.Start != at || s.Dur <= 0 {
			t.Fatalf("span %+v does not begin at %d", s, at)
		}
		at = s.Start + model.Time(s.Dur)
	}
	if at != p.To {
		t.Fatalf("path ends at %d, window at %d", at, p.To)
	}
	for _, d := range p.Kinds {
		sum += d
	}
	if sum != p.To.Sub(p.From) {
		t.Fatalf("kinds sum to %d of %d", sum, p.To.Sub(p.From))
	}
}

func TestCriticalPathByHand(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("cpu_op", "aten::mm", 1, 1, 0, 20, "")
	b.Launch("cudaLaunchKernel", 5, 10, "kernel", "k0", 7, 15, 100) // launch 5–15, compute to 100
	b.Add("cpu_op", "aten::relu", 1, 1, 25, 40, "")
	b.Launch("cudaLaunchKernel", 30, 35, "kernel", "k1", 7, 102, 200) // queued: gap 100–102
	b.Launch("cudaLaunchKernel", 40, 45, "kernel", "unimportant", 8, 50, 60)
	b.Add("cpu_op", "aten::item", 1, 1, 50, 210, "")
	b.Add("cuda_runtime", "cudaStreamSynchronize", 1, 1, 55, 204, "") // waits for k1
	b.Add("cpu_op", "aten::add", 1, 1, 230, 250, "")                  // 210–230 Python
	b.Launch("cudaLaunchKernel", 240, 245, "kernel", "ncclDevKernel_AllReduce", 7, 247, 300)
	trace, s := b.Trace()
	p := Of(trace, s, trace.From, trace.To)
	checkPath(t, p)
	want := map[Kind]model.Dur{
		Op:     slowtrace.Micros(5 + 6 + 10), // aten::mm to its launch, the end of aten::item, aten::add to its launch
		Launch: slowtrace.Micros(10 + 7), Compute: slowtrace.Micros(85 + 98), KernelGap: slowtrace.Micros(2), Sync: slowtrace.Micros(4),
		Host: slowtrace.Micros(20), Communication: slowtrace.Micros(53),
	}
	for kind, d := range p.Kinds {
		if d != want[Kind(kind)] {
			t.Errorf("%s: %v, want %v", Kind(kind), d.Std(), want[Kind(kind)].Std())
		}
	}
}

// TestCriticalPathOverThreads: the main thread waits in backward while another thread works.
func TestCriticalPathOverThreads(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("user_annotation", "ProfilerStep#0", 1, 1, 0, 1000, "")
	b.Add("cpu_op", "forward", 1, 1, 0, 200, "")
	b.Add("cpu_op", "backward", 1, 2, 250, 700, "")
	b.Add("cpu_op", "step", 1, 1, 720, 1000, "")
	trace, s := b.Trace()
	p := Of(trace, s, trace.From, trace.To)
	checkPath(t, p)
	if p.Kinds[Op] != slowtrace.Micros(200+450+280) || p.Kinds[Host] != slowtrace.Micros(70) {
		t.Errorf("%v %+v", p.Kinds, p.Spans)
	}
}

// TestCriticalPathFollowsEvents: a stream was told to wait for another one's event, the rest is idle.
func TestCriticalPathFollowsEvents(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Launch("cudaLaunchKernel", 0, 5, "kernel", "producer", 7, 10, 400)
	b.Add("cuda_runtime", "cudaEventRecord", 1, 1, 6, 8, `"correlation": 50`)
	b.Add("cuda_runtime", "cudaStreamWaitEvent", 1, 1, 9, 10, `"correlation": 51`)
	b.Add("cuda_sync", "Stream Wait Event", 0, 8, 400, 401,
		`"correlation": 51, "device": 0, "stream": 8, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 50`)
	b.Launch("cudaLaunchKernel", 12, 14, "kernel", "consumer", 8, 405, 500)
	b.Launch("cudaLaunchKernel", 20, 24, "kernel", "later", 7, 401, 404)
	trace, s := b.Trace()
	p := Of(trace, s, trace.From, trace.To)
	checkPath(t, p)
	var names []string
	for _, span := range p.Spans {
		if span.Kind == Compute {
			names = append(names, s.Text(span.Name))
		}
	}
	if len(names) != 2 || names[0] != "producer" || names[1] != "consumer" {
		t.Errorf("kernels on the path: %v", names)
	}
}

func TestCriticalPathCloses(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		p := Of(trace, s, trace.From, trace.To)
		checkPath(t, p)
		for _, step := range trace.Steps {
			checkPath(t, Of(trace, s, step.Start, step.End))
		}
		t.Logf("%v", p.Kinds)
	})
}
