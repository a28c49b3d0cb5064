package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

const msec = 1_000_000 // ns

// elementwise is a kernel of PyTorch's own for one operation per element.
const elementwise = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)"

// ofCause is a report's finding of a cause, nil without.
func ofCause(r *report.Report, cause string) *report.Finding {
	for i := range r.Findings {
		if r.Findings[i].Cause == cause {
			return &r.Findings[i]
		}
	}
	return nil
}

// described adds the description of the one device.
func described(b *testkit.Trace, name string, major int) *testkit.Trace {
	return b.Key("deviceProperties", []map[string]any{{"id": 0, "name": name, "computeMajor": major, "computeMinor": 0, "numSms": 80}})
}

// queued adds kernels that are all launched at once and run one after the other, 1 ms each.
func queued(b *testkit.Trace, names ...string) *testkit.Trace {
	at := int64(msec)
	b.Op("aten::run", 1, at, int64(len(names))*6_000)
	for i, name := range names {
		b.Launch(name, 1, at+int64(i)*6_000, 5_000, at+100_000+int64(i)*msec, msec-1_000, i+1)
	}
	return b
}

// TestFasterKernelsWaitForTheirLaunches: the program takes a millisecond to launch each kernel of 0.9 ms. The device is busy for 90 %, but
// with kernels of no time at all the steps would take as long. The bound above is for launches in half of the traced time.
func TestFasterKernelsWaitForTheirLaunches(t *testing.T) {
	b, fast := testkit.NewTrace(), testkit.NewTrace()
	for i := range 40 {
		at := int64(1+i) * msec
		b.Op("aten::add", 1, at, msec-1_000)
		b.Launch(elementwise, 1, at+msec-8_000, 5_000, at+msec, 900_000, i+1)
		fast.Op("aten::add", 1, msec+int64(i)*10_000, 9_000)
		fast.Launch(elementwise, 1, msec+int64(i)*10_000, 5_000, at+msec, 999_000, i+1)
	}
	f := ofCause(foreignReport(t, fast.String()), "memory-bound")
	if f == nil || f.Saving == nil || f.Saving.RunS.Mid < 0.015 || f.Saving.RunS.High > 0.041 {
		t.Fatalf("where the program is ahead at most all, most likely half of the kernels' 40 ms is saved: %+v", f)
	}
	if f = ofCause(foreignReport(t, b.String()), "memory-bound"); f != nil && f.Saving != nil &&
		(f.Saving.RunS.Mid > 0.001 || f.Saving.RunS.High > 0.02) {
		t.Errorf("faster kernels save %+v of a program that takes longer to launch them: %+v", f.Saving.RunS, f.Evidence)
	}
}

// TestSavingIsOfTheTracedTime: the device is traced for a fifth of the step, of which half is an allocation of 10 ms.
func TestSavingIsOfTheTracedTime(t *testing.T) {
	b := testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, msec, 100*msec)
	b.Op("aten::work", 1, msec, 60*msec)
	b.Op("aten::mm", 1, 61*msec, 100_000).Launch("gemm", 1, 61*msec+10_000, 5_000, 61*msec+20_000, 5*msec, 1)
	b.X("cuda_runtime", "cudaDeviceSynchronize", 100, 1, 61*msec+200_000, 5*msec)
	b.Op("aten::empty", 1, 67*msec, 11*msec).X("cuda_runtime", "cudaMalloc", 100, 1, 67*msec+10_000, 10*msec)
	b.Op("aten::mm", 1, 78*msec, 100_000).Launch("gemm", 1, 78*msec+10_000, 5_000, 78*msec+20_000, 4*msec, 2)
	b.X("cuda_runtime", "cudaDeviceSynchronize", 100, 1, 78*msec+200_000, 22*msec)
	f := ofCause(foreignReport(t, b.String()), "alloc")
	if f == nil || f.Saving == nil || f.Saving.RunS.High < 0.0095 || f.Saving.RunS.High > 0.0125 {
		t.Errorf("%+v, want the 10 ms of the allocation", f)
	}
}

// TestMostIsComputing: a small finding is not what a device is bound by that computes for nearly all of its time.
func TestMostIsComputing(t *testing.T) {
	b := testkit.NewTrace()
	names := make([]string, 95)
	for i := range names {
		names[i] = "gemm"
	}
	queued(b, names...)
	b.Op("aten::slow", 1, 96*msec, 5*msec).Launch("gemm", 1, 101*msec-10_000, 5_000, 101*msec, msec, 200)
	r := foreignReport(t, b.String())
	if f := ofCause(r, "compute"); f == nil || f.Saving != nil || r.Findings[len(r.Findings)-1].Cause != "compute" {
		t.Errorf("findings %+v", r.Findings)
	}
	if !strings.HasPrefix(r.Verdict.Sentence,
		"95 % of the devices' time is computing, in which nothing to save was found. Of the rest: 4.8 % of the devices' time is idle") {
		t.Error(r.Verdict.Sentence)
	}
}

// TestSmallSavingsOfMuchComputing: the program launches just in time for products in fp32. Neither the gaps nor the products save much.
func TestSmallSavingsOfMuchComputing(t *testing.T) {
	b := testkit.NewTrace()
	for i := range 40 {
		at := int64(1+i) * msec
		b.Op("aten::mm", 1, at, msec-1_000)
		b.Launch("volta_sgemm_64x64_nt", 1, at+msec-8_000, 5_000, at+msec, 900_000, i+1)
	}
	r := foreignReport(t, described(b, "Tesla V100-SXM2-32GB", 7).String())
	if ofCause(r, "precision") == nil ||
		!strings.HasPrefix(r.Verdict.Sentence, "90 % of the devices' time is computing, and no fix is likely to save a tenth of the "+
			"whole. The first: 9.8 % of the devices' time is idle") {
		t.Error(r.Verdict.Sentence)
	}
}

// TestCompiledAlready: who uses torch.compile is not told to do so.
func TestCompiledAlready(t *testing.T) {
	eager, compiled := testkit.NewTrace(), testkit.NewTrace()
	queued(eager, elementwise, elementwise, elementwise)
	queued(compiled, elementwise, elementwise, elementwise, "triton_poi_fused_add_mul_0")
	if f := ofCause(foreignReport(t, eager.String()), "memory-bound"); f == nil || f.Fix.Change == "" {
		t.Errorf("%+v", f)
	}
	if f := ofCause(foreignReport(t, compiled.String()), "memory-bound"); f == nil || f.Fix.Change != "" ||
		!strings.Contains(f.Fix.Text, "already") {
		t.Errorf("%+v", f)
	}
}

// TestNamesTellTheFormat: without shapes, kernels' names tell products in fp32; the device tells what would be faster.
func TestNamesTellTheFormat(t *testing.T) {
	for _, c := range []struct {
		device, kernel, change string
		major                  int
	}{
		{"Tesla V100-SXM2-32GB", "volta_sgemm_64x64_nt", "float16", 7},
		{"Tesla V100-SXM2-32GB", "void implicit_convolve_sgemm<float, float, 128, 6, 7>(int)", "float16", 7},
		{"Tesla V100-SXM2-32GB", "volta_h884gemm_64x64_nt", "", 7},
		{"NVIDIA A100-SXM4-80GB", "ampere_sgemm_128x64_tn", "high", 8},
		{"NVIDIA A100-SXM4-80GB", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4", "", 8},
		{"NVIDIA GeForce RTX 3060", "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention)", "bfloat16", 8},
	} {
		f := ofCause(foreignReport(t, described(queued(testkit.NewTrace(), c.kernel, c.kernel), c.device, c.major).String()), "precision")
		if (f != nil) != (c.change != "") {
			t.Errorf("%s on %s: %+v", c.kernel, c.device, f)
		} else if f != nil && (f.Fix.Change == "" || !strings.Contains(f.Fix.Change, c.change) ||
			c.change == "float16" && strings.Contains(f.Fix.Change, "bfloat16")) {
			t.Errorf("%s on %s: %+v", c.kernel, c.device, f.Fix)
		}
	}
}

// TestLittleOfTheStep: what a device does for a thousandth of a step is no finding, however it does it.
func TestLittleOfTheStep(t *testing.T) {
	b := testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, msec, 1000*msec)
	queued(b, elementwise)
	r := foreignReport(t, b.String())
	if f := ofCause(r, "memory-bound"); f != nil || r.Verdict.Bound != "cpu" {
		t.Errorf("%s, %+v", r.Verdict.Sentence, f)
	}
}

// TestStandsStill: short operators that take 5 ms now and then are no first use of anything; operators whose every call takes as long,
// or whose first calls do, are not the thread's standing still.
func TestStandsStill(t *testing.T) {
	program := func(slow func(round int, op string) bool) *report.Finding {
		b, at, id := testkit.NewTrace(), int64(msec), 0
		for round := range 12 {
			for _, op := range []string{"aten::view", "aten::mm", "aten::expand", "aten::add"} {
				d := int64(20_000)
				if slow(round, op) {
					d = 5 * msec
				}
				b.Op(op, 1, at, d)
				id++
				b.Launch("gemm", 1, at+d-8_000, 5_000, at+d, 200_000, id)
				at += d + 210_000
			}
		}
		r := foreignReport(t, b.String())
		return &r.Findings[0]
	}
	stopped := map[string]int{"aten::view": 4, "aten::mm": 6, "aten::expand": 7, "aten::add": 9}
	if f := program(func(round int, op string) bool { return stopped[op] == round }); f.Sub != "stalled" || f.Saving == nil ||
		f.Saving.RunS.High > 0.0201 {
		t.Errorf("%s/%s %+v", f.Cause, f.Sub, f.Saving)
	}
	if f := program(func(round int, _ string) bool { return round == 0 }); f.Sub != "first-use" {
		t.Errorf("the first calls: %s/%s %s", f.Cause, f.Sub, f.Title)
	}
	if f := program(func(_ int, op string) bool { return op == "aten::mm" }); f.Sub == "stalled" {
		t.Errorf("every call: %s/%s %s", f.Cause, f.Sub, f.Title)
	}
}

// TestCapturesAreNoSteps: launches at the capture of a graph are said to happen once.
func TestCapturesAreNoSteps(t *testing.T) {
	b := testkit.NewTrace()
	for i := range 20 {
		at := int64(1+i) * msec
		b.Op("aten::mm", 1, at, 900_000).Launch("gemm", 1, at+890_000, 5_000, at+900_000, 100_000, i+1)
	}
	b.X("cuda_runtime", "cudaStreamBeginCapture", 100, 1, 25*msec, 10_000)
	f := ofCause(foreignReport(t, b.String()), "launch")
	if f == nil || f.Saving.RunS.Low != 0 || f.Confidence.Level != "low" || !strings.Contains(f.Caveat, "captured once") {
		t.Errorf("%+v", f)
	}
}

// TestSharesOfKernelsAreDisjoint: kernels on two streams at once do not add up to more than the time in which they run.
func TestSharesOfKernelsAreDisjoint(t *testing.T) {
	b := testkit.NewTrace()
	for i := range 10 {
		at := int64(2+i) * msec
		b.Launch(elementwise, 1, msec+int64(i)*20_000, 5_000, at, msec, 2*i+1)
		b.X("cuda_runtime", "cudaLaunchKernel", 100, 1, msec+int64(i)*20_000+10_000, 5_000, "correlation", 2*i+2)
		b.X("kernel", "batched_transpose_16x32_half", 0, 8, at, msec, "device", 0, "stream", 8, "correlation", 2*i+2)
	}
	sum, r := 0.0, foreignReport(t, b.String())
	for _, f := range r.Findings {
		sum += f.Share
	}
	if len(r.Findings) < 2 || sum > 1.001 {
		t.Errorf("shares of %d findings add up to %.3f", len(r.Findings), sum)
	}
}
