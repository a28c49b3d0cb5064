package analyse

import (
	"testing"

	"bottleneck/internal/model"
)

func TestKernelTable(t *testing.T) {
	b := &builder{}
	b.add("cpu_op", "aten::linear", 1, 1, 0, 50, "")
	b.add("cpu_op", "aten::addmm", 1, 1, 1, 40, "")
	b.launch("cudaLaunchKernel", 5, 10, "kernel", "ampere_sgemm_64x64", 7, 20, 120)
	b.launch("cudaLaunchKernel", 11, 12, "kernel", "ampere_sgemm_64x64", 7, 130, 180)
	b.add("cpu_op", "aten::mm", 1, 1, 60, 80, "")
	b.launch("cudaLaunchKernel", 61, 62, "kernel", "ampere_sgemm_64x64", 8, 200, 210)
	b.launch("cudaLaunchKernel", 63, 64, "kernel", "ampere_h16816_relu", 7, 220, 225)
	trace, s := b.trace()
	got := Kernels([]*model.Trace{trace}, s)
	if len(got) != 2 {
		t.Fatalf("%d kernels", len(got))
	}
	k := got[0]
	if k.Name != "ampere_sgemm_64x64" || k.Class != ClassMatmul || k.Count != 3 || k.Dur != us(160) || k.Min != us(10) || k.Max != us(100) ||
		k.Stream != -1 || k.Device != 0 || k.Launcher != "aten::addmm" || k.Where.Op != "aten::linear" || k.TensorCores {
		t.Errorf("%+v", k)
	}
	if !got[1].TensorCores || got[1].Stream != 7 {
		t.Errorf("%+v", got[1])
	}
}

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

func TestCopies(t *testing.T) {
	b := &builder{}
	b.launch("cudaLaunchKernel", 0, 5, "kernel", "k", 7, 10, 110)
	b.corr++
	b.add("cuda_runtime", "cudaMemcpyAsync", 1, 1, 20, 160, `"correlation": 2`)
	b.add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 8, 60, 160, `"correlation": 2, "device": 0, "stream": 8, "bytes": 1000000`)
	trace, s := b.trace()
	got := Copies(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d kinds", len(got))
	}
	c := got[0]
	if c.Direction != "HtoD" || !c.Pageable || c.Bytes != 1e6 || c.Dur != us(100) || c.Exposed != us(50) || c.Waited != us(140) || c.GBs() != 10 {
		t.Errorf("%+v, %v GB/s", c, c.GBs())
	}
}

func TestStreams(t *testing.T) {
	b := &builder{}
	b.launch("cudaLaunchKernel", 0, 5, "kernel", "a", 7, 10, 20)
	b.launch("cudaLaunchKernel", 6, 8, "kernel", "b", 7, 25, 30)     // queued: 5 µs
	b.launch("cudaLaunchKernel", 9, 11, "kernel", "c", 7, 80, 90)    // queued, 50 µs
	b.launch("cudaLaunchKernel", 95, 97, "kernel", "d", 7, 100, 101) // late: 10 µs
	trace, s := b.trace()
	got := Streams(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d streams", len(got))
	}
	g := got[0]
	if g.KernelWait != us(5) || g.OtherWait != us(50) || g.HostWait != us(10) || g.Queue.Max != 3 || g.Queue.Full != 0 {
		t.Errorf("%+v", g)
	}
	// a: 0–10, b: 6–25, c: 9–80, d: 95–100; 10+19+71+5 over 0–100
	if g.Queue.Mean != 1.05 {
		t.Errorf("mean queue %v", g.Queue.Mean)
	}
}

func TestStepPartsByHand(t *testing.T) {
	b := &builder{}
	b.add("user_annotation", "ProfilerStep#3", 1, 1, 0, 100, "")
	b.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 1, 0, 20, "")
	b.add("cpu_op", "aten::mm", 1, 1, 30, 60, "")
	b.launch("cudaLaunchKernel", 40, 45, "kernel", "k", 7, 50, 120)
	b.add("user_annotation", "ProfilerStep#4", 1, 1, 100, 150, "")
	trace, s := b.trace()
	got := StepPartsOf(trace, s)
	if len(got) != 2 {
		t.Fatalf("%d steps", len(got))
	}
	want := [NumStepParts]model.Dur{StepKernel: us(70), StepRuntime: us(5), StepDataLoader: us(20), StepCPUOp: us(15), StepOther: us(10)}
	if got[0].Parts != want || got[0].End != got[1].Start || got[1].End.Sub(got[1].Start) != us(30) {
		t.Errorf("%+v, want %v", got, want)
	}
}

func TestTablesCloseOnRealTraces(t *testing.T) {
	onRealTraces(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, p := range StepPartsOf(trace, s) {
			var sum model.Dur
			for _, d := range p.Parts {
				sum += d
			}
			if sum != p.End.Sub(p.Start) || p.Parts[StepOther] < 0 {
				t.Errorf("step %d: parts sum to %v of %v", p.Number, sum, p.End.Sub(p.Start))
			}
		}
		var kernels, events, streams model.Dur
		for i := range trace.Events.Len() {
			if trace.Events.Kind[i].Device() {
				events += trace.Events.Dur[i]
			}
		}
		for _, k := range Kernels([]*model.Trace{trace}, s) {
			kernels += k.Dur
			if k.Min > k.Mean() || k.Mean() > k.Max {
				t.Errorf("%s: min %d, mean %d, max %d", k.Name, k.Min, k.Mean(), k.Max)
			}
		}
		for _, st := range Streams(trace, s) {
			streams += st.Busy
		}
		if kernels != events || streams != events {
			t.Errorf("events %d, kernels %d, streams %d", events, kernels, streams)
		}
		for _, c := range Copies(trace, s) {
			if c.Exposed < 0 || c.Exposed > c.Dur {
				t.Errorf("%+v", c)
			}
		}
	})
}
