package device

import (
	"testing"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/testkit/slowtrace"
)

// TestWaitCostsWhatItLasted: after a short wait the program prepares the next work for long, which is not the wait's.
func TestWaitCostsWhatItLasted(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Launch("cudaLaunchKernel", 0, 5, "kernel", "k0", 7, 6, 100)
	b.Add("cuda_runtime", "cudaStreamSynchronize", 1, 1, 90, 102, "")
	b.Launch("cudaLaunchKernel", 500, 505, "kernel", "k1", 7, 506, 600)
	trace, s := b.Trace()
	work := NewWork(trace, s)
	for _, c := range work.GPUs()[0].IdleBy {
		want := map[string]float64{IdleSync: 12, IdleHost: 388, IdleLaunch: 6}[c.Cause]
		if c.Dur != slowtrace.Micros(want) {
			t.Errorf("%s: %v, want %g µs", c.Cause, c.Dur.Std(), want)
		}
	}
	if g := work.HostGaps(); g.Apart != slowtrace.Micros(388) || g.ApartGaps != 1 {
		t.Errorf("apart %v in %d stretches, want 388 µs in one", g.Apart.Std(), g.ApartGaps)
	}
}

// TestSlowCalls: an operator on the CPU, an operator that loads kernels and a long launch stand apart from many small ones.
func TestSlowCalls(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Launch("cudaLaunchKernel", 0, 5, "kernel", "k0", 7, 6, 100)
	b.Add("cpu_op", "aten::randn", 1, 1, 120, 3120, "") // 3 ms, no call of the device
	b.Launch("cudaLaunchKernel", 3130, 3135, "kernel", "k1", 7, 3136, 3200)
	b.Add("cpu_op", "aten::conv2d", 1, 1, 3210, 5300, "")
	b.Add("cuda_runtime", "cudaFuncGetAttributes", 1, 1, 3300, 3310, "")
	b.Launch("cudaLaunchKernel", 5220, 5225, "kernel", "k2", 7, 5226, 5400) // 2.01 ms of the operator lie in the gap
	b.Add("cpu_op", "aten::add", 1, 1, 5410, 5440, "")                      // as long as operators are
	b.Launch("cudaLaunchKernel", 5450, 7000, "kernel", "k3", 7, 6990, 7100) // 1.54 ms in the call itself
	trace, s := b.Trace()
	got := NewWork(trace, s).HostGaps().Slow
	if got.Operators != slowtrace.Micros(3000+2010) || got.OnCPU != slowtrace.Micros(3000) ||
		got.Launches != slowtrace.Micros(1540) || got.Calls != 3 {
		t.Errorf("operators %v (on the CPU %v), launches %v, %d calls", got.Operators.Std(), got.OnCPU.Std(), got.Launches.Std(), got.Calls)
	}
	if got.At.Op != "aten::randn" || got.Longest != slowtrace.Micros(3000) {
		t.Errorf("most in %q, longest %v", got.At.Op, got.Longest.Std())
	}
}

// TestKernelsThatOnlyLookLikeMatrixUnits: a library's name does not make fp32 multiply-add a product of matrix units.
func TestKernelsThatOnlyLookLikeMatrixUnits(t *testing.T) {
	for name, want := range map[string]bool{
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas": false,
		"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8_execute_kernel_cublas":           true,
		"void " +
			"cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)": false,
	} {
		if got := naming.UsesTensorCores(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, name := range []string{"volta_scudnn_128x64_relu_small_nn_v1", "cudnn_infer_volta_scudnn_128x128_stridedB_splitK_medium_nn_v1",
		"volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1"} {
		if got := naming.ClassifyKernel(name); got != naming.ClassConvolution {
			t.Errorf("%s is %s", name, got)
		}
	}
	for _, name := range []string{"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int4*)",
		"void ours::ep::internode::dispatch<false, 8>(int4*)"} {
		if got := naming.ClassifyKernel(name); got != naming.ClassCommunication {
			t.Errorf("%s is %s", name, got)
		}
	}
}
