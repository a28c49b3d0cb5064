package code

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestWhere(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("python_function", "train.py(10): main", 1, 1, 0, 100, "")
	b.Add("python_function", "nn.Module: Net_0", 1, 1, 5, 90, "")
	b.Add("python_function", "/home/u/net (copy)/model.py(33): forward", 1, 1, 10, 80, "")
	b.Add("python_function", "torch/nn/functional.py(2000): linear", 1, 1, 12, 70, "")
	b.Add("python_function", "<built-in function linear>", 1, 1, 15, 60, "")
	b.Add("cpu_op", "aten::linear", 1, 1, 20, 50, "")
	b.Add("cpu_op", "aten::addmm", 1, 1, 25, 45, "")
	b.Add("cuda_runtime", "cudaLaunchKernel", 1, 1, 30, 35, "")
	b.Add("cpu_op", "aten::relu", 1, 1, 200, 230,
		`"Call stack": "torch/nn/functional.py(1500): relu;model.py(7): forward;train.py(12): main"`)
	b.Add("python_function", "step.py(3): step", 1, 1, 300, 400, `"Python id": 1, "CallFrom": "train.py:90"`)
	b.Add("python_function", "<built-in method sum of Tensor object>", 1, 1, 310, 330, `"Python id": 2, "CallFrom": "step.py:8"`)
	b.Add("cpu_op", "aten::sum", 1, 1, 312, 320, "")
	b.Add("cpu_op", "aten::sub", 1, 1, 340, 350, "") // an operator of Python's, which is no call
	b.Add("python_function", "torch/_tensor.py(566): backward", 1, 1, 360, 390, `"Python id": 3, "CallFrom": "step.py:9"`)
	b.Add("python_function", "<built-in method ones_like of type object>", 1, 1, 365, 380,
		`"Python id": 4, "CallFrom": "torch/_tensor.py:570"`)
	b.Add("cpu_op", "aten::ones_like", 1, 1, 370, 375, "")
	trace, s := b.Trace()
	lines := NewFinder(trace, s)
	want := map[string]Where{
		"aten::sum":        {"aten::sum", "step.py", 8, "step", ""},
		"aten::sub":        {"aten::sub", "step.py", 3, "step", ""},
		"aten::ones_like":  {"aten::ones_like", "step.py", 9, "step", ""},
		"cudaLaunchKernel": {"aten::linear", "/home/u/net (copy)/model.py", 33, "forward", "Net_0"},
		"aten::relu":       {"aten::relu", "model.py", 7, "forward", ""},
	}
	for i := range trace.Events.Len() {
		name := s.Text(trace.Events.Name[i])
		if w, ok := want[name]; ok {
			if got := lines.Of(model.EventID(i)); got != w {
				t.Errorf("%s: %+v, want %+v", name, got, w)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}

func TestIsUserFrame(t *testing.T) {
	for frame, want := range map[string]bool{
		"train.py(10): main": true, "/srv/app/run.py(1): <module>": true, "torch/nn/modules/linear.py(113): forward": false,
		"<built-in method mm of type object>": false, "nn.Module: Linear_3": false, "/usr/lib/python3.11/threading.py(5): run": false,
		"/venv/lib/python3.11/site-packages/x/y.py(5): z": false, "threading.py(100): run": false, "my model.py(3): f": true, "": false,
	} {
		if got := isUserFrame(frame); got != want {
			t.Errorf("%q: %v", frame, got)
		}
	}
}

func TestInnermostModule(t *testing.T) {
	for hierarchy, want := range map[string]string{"TOP(Net)::forward.fc(Linear)::forward": "fc(Linear)", "": "", "main": ""} {
		if got := innermostModule(hierarchy); got != want {
			t.Errorf("%q: module %q, want %q", hierarchy, got, want)
		}
	}
}
