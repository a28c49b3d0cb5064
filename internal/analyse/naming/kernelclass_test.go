package naming

import "testing"

func TestClassifyKernel(t *testing.T) {
	for name, want := range map[string]KernelClass{
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)": ClassCommunication,
		"Memcpy HtoD (Pinned -> Device)":                         ClassMemcpy,
		"Memset (Device)":                                        ClassMemset,
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>":                          ClassElementwise,
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>":                                        ClassReduction,
		"triton_poi_fused_add_all_gather_0":                                                                          ClassElementwise,
		"Cijk_Ailk_Bjlk_HB_MT128x128x32_MI16x16x16x1":                                                                ClassMatmul,
		"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>":              ClassAttention,
		"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4":                  ClassConvolution,
		"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>":                                          ClassNormalisation,
		"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunc": ClassOptimizer,
		"spin_kernel": ClassOther,
	} {
		if got := ClassifyKernel(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
