package report

import "testing"

func TestNamesOfEntryKernels(t *testing.T) {
	for name, want := range map[string]string{
		"void cutlass::device_kernel<ours::cuda::fp8_rows::GemmKernel>(ours::cuda::fp8_rows::GemmKernel::Params)": "fp8_rows::GemmKernel",
		"void cutlass::device_kernel<flash::FlashAttnBwd<flash::Mainloop<2>, 3> >(flash::Params)":                 "flash::FlashAttnBwd",
		"void " +
			"cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(cutlass_80::Params)": "cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4",
		"void lib::Kernel<3, float>(float*)": "Kernel",
		"Kernel":                             "Kernel",
		"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT_":           "add_rmsnorm_quant_kernel",
		"_ZN7ck_tile6kentryILi2ENS_13FmhaFwdKernelINS_4PipeEEEJEEEvDpT1_": "FmhaFwdKernel",
		"_ZN7ck_tile6kentryILi2E":                                         "kentry",
		"_ZN":                                                             "_ZN",
		"_ZN9999x":                                                        "_ZN9999x",
		"_ZN7ck_tile6kentryILi1ENS_10RmsnormFwdINS_4PipeEEEJEEEvDpT1_": "RmsnormFwd",
	} {
		if got := ShortKernel(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
