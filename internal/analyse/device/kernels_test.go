package device

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// A kernel's module is the innermost forward around its launch, from Python calls or from the operator's module hierarchy.
func TestModuleOfLaunch(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("python_function", "nn.Module: Net_0", 1, 1, 0, 100, "")
	b.Add("python_function", "nn.Module: Linear_3", 1, 1, 10, 50, "")
	b.Add("cpu_op", "aten::linear", 1, 1, 20, 40, "")
	b.Launch("cudaLaunchKernel", 25, 30, "kernel", "gemm", 7, 60, 90)
	tr, s := b.Trace()
	if k := Kernels([]*model.Trace{tr}, s); len(k) != 1 || k[0].Where.Module != "Linear_3" {
		t.Errorf("%+v", k)
	}
}
