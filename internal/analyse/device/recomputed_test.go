package device

import (
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// What a checkpoint's backward pass runs by itself is computed again; the backward passes that start within it are not, nor is the forward
// pass. By hand.
func TestRecomputedInReentrantForm(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("python_function", "/home/u/model.py(10): forward", 1, 1, 0, 60, "")
	b.Add("python_function", "torch/utils/checkpoint.py(343): checkpoint", 1, 1, 1, 59, "")
	b.Launch("cudaLaunchKernel", 15, 20, "kernel", "gemm", 7, 40, 70)
	b.Add("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", 1, 1, 100, 300, "")
	b.Add("cpu_op", "CheckpointFunctionBackward", 1, 1, 101, 299, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 110, 130, "")
	b.Launch("cudaLaunchKernel", 115, 120, "kernel", "gemm", 7, 140, 190)
	b.Add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 1, 200, 250, "")
	b.Launch("cudaLaunchKernel", 210, 220, "kernel", "gemm", 7, 230, 260)
	b.Add("kernel", "ncclDevKernel_AllReduce", 0, 20, 160, 170, `"device": 0, "stream": 20`)
	got := NewWork(b.Trace()).Recomputed()
	if got.Kernels != 1 || got.Dur != slowtrace.Micros(50) || got.Alone != slowtrace.Micros(40) || got.Where.File != "/home/u/model.py" {
		t.Errorf("%+v", got)
	}
}

// Of a real trace they are what a sum over the file's own events gives: kernels whose launch, by its correlation, lies within a call of
// unpack_hook on its thread.
func TestRecomputedOnRealTraces(t *testing.T) {
	var s model.Strings
	trace := slowtrace.Read(t, filepath.Join(slowtrace.Folder(), "tracelens-rocm-ddp", "resnet_act_checkpoint_rank0of8_mi300.json.gz"), &s)
	got := NewWork(trace, &s).Recomputed()
	if us := float64(got.Dur) / float64(slowtrace.Micros(1)); got.Kernels != 591 || us < 4122.1 || us > 4122.4 ||
		got.Where.Function != "train_step" {
		t.Errorf("%+v", got)
	}
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		if got := NewWork(trace, s).Recomputed(); got.Kernels != 0 {
			t.Errorf("%+v", got)
		}
	})
}
