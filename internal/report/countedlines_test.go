package report_test

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit/slowtrace"
)

// The device time of a counted line is that of the kernels that its calls launched, those of the backward pass by its call, a traced step;
// what an operator launched that is no call counts for the function alone.
func TestDeviceTimeOfCountedLines(t *testing.T) {
	b := &slowtrace.Builder{}
	for step, at := range []float64{0, 1000} {
		b.Add("user_annotation", "ProfilerStep#"+string('1'+rune(step)), 1, 1, at, at+900, "")
		b.Add("python_function", "train.py(5): step", 1, 1, at+10, at+800, `"Python id": 1, "CallFrom": "train.py:30"`)
		b.Add("python_function", "nn.Module: Linear_0", 1, 1, at+20, at+100, `"Python id": 2, "CallFrom": "train.py:6"`)
		b.Add("python_function", "torch/nn/functional.py(9): linear", 1, 1, at+30, at+90,
			`"Python id": 3, "CallFrom": "torch/nn/modules/linear.py:1"`)
		b.Launch("cudaLaunchKernel", at+40, at+50, "kernel", "gemm", 7, at+60, at+160)
		b.Launch("cudaLaunchKernel", at+110, at+120, "kernel", "add", 7, at+160, at+170) // a + b, in line 7
		b.Add("python_function", "torch/_tensor.py(500): backward", 1, 1, at+200, at+700, `"Python id": 4, "CallFrom": "train.py:9"`)
		b.Add("python_function", "<built-in method run_backward of torch._C._EngineBase object>", 1, 1, at+210, at+690,
			`"Python id": 5, "CallFrom": "torch/_tensor.py:510"`)
		b.Corr++
		link := `"correlation": ` + string('0'+rune(b.Corr))
		b.Add("cuda_runtime", "cudaLaunchKernel", 1, 2, at+300, at+310, link)
		b.Add("kernel", "gemm_backward", 0, 7, at+320, at+520, link+`, "device": 0, "stream": 7`)
	}
	trace, texts := b.Trace()
	trace.Process, trace.Features.Device = -1, true
	lines := func(n ...int32) (out []model.CallLine) {
		for _, line := range n {
			out = append(out, model.CallLine{File: "/home/u/train.py", Function: "step", First: 5, Line: line, Hits: 2, Time: 1e6})
		}
		return out
	}
	other := model.CallLine{File: "/home/u/other.py", Function: "step", First: 5, Line: 6, Hits: 2, Time: 1e3}
	s := &model.Session{Strings: texts, Traces: []*model.Trace{trace}, Sources: map[string]*model.Source{},
		Calls: []*model.Calls{{Process: -1, Lines: append(lines(6, 7, 8, 10), other)}}}
	r := report.Build(s, report.Options{})
	if len(r.CountedLines) != 2 {
		t.Fatalf("%d functions", len(r.CountedLines))
	}
	f := r.CountedLines[0]
	// Line 9 goes on what begins in line 8.
	want := map[int]float64{6: 100, 8: 200}
	for _, l := range f.Lines {
		got := 0.0
		if l.DeviceUs != nil {
			got = *l.DeviceUs
		}
		if got != want[l.Line] {
			t.Errorf("line %d: %v µs on the device, want %v", l.Line, got, want[l.Line])
		}
	}
	if f.DeviceUs == nil || *f.DeviceUs != 310 {
		t.Errorf("the function: %v µs on the device, want 310", f.DeviceUs)
	}
	if r.CountedLines[1].DeviceUs != nil {
		t.Errorf("another file's function of that name: %v", *r.CountedLines[1].DeviceUs)
	}
	if said := strings.Join(f.Notes, "\n"); strings.Contains(said, "no line") {
		t.Errorf("notes %q: 3 %% without a line are not worth a word", said)
	}
}
