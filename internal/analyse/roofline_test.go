package analyse

import (
	"math"
	"testing"

	"bottleneck/internal/model"
)

func TestMatrixWork(t *testing.T) {
	for _, c := range []struct {
		name, shapes, concrete string
		types                  []string
		flops, bytes           int64
	}{
		{"aten::mm", "[[2, 3], [3, 5]]", "", []string{"float"}, 60, 4 * (6 + 15 + 10)},
		{"aten::bmm", "[[7, 2, 3], [7, 3, 5]]", "", []string{"c10::Half"}, 420, 2 * 7 * (6 + 15 + 10)},
		{"aten::matmul", "[[4, 7, 2, 3], [3, 5]]", "", []string{"float"}, 28 * 60, 4 * (28*6 + 15 + 28*10)},
		{"aten::addmm", "[[5], [2, 3], [3, 5], [], []]", "", []string{"c10::BFloat16"}, 60, 2 * (6 + 15 + 10)},
		{"aten::linear", "[[4, 2, 3], [5, 3], [5]]", "", []string{"float"}, 240, 4 * (24 + 15 + 40)},
		{"aten::conv2d", "[[1, 3, 8, 8], [6, 3, 3, 3], [], [], [], [], []]", `["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]`, []string{"float"}, 2 * 6 * 64 * 27, 4 * (192 + 162 + 384)},
		{"aten::cudnn_convolution", "[[1, 3, 8], [6, 3, 3], [], [], [], [], []]", `["", "", "[0]", "[2]", "[1]", "1", "False"]`, []string{"float"}, 2 * 6 * 3 * 9, 4 * (24 + 54 + 18)},
		{"aten::convolution_backward", "[[1, 6, 8, 8], [1, 3, 8, 8], [6, 3, 3, 3]]", `["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"]`, []string{"float"}, 2 * 384 * 27, 4 * (384 + 192 + 162)},
		{"aten::_flash_attention_forward", "[[2, 10, 4, 8], [2, 20, 4, 8], [2, 20, 4, 8]]", `["", "", "", "", "", "10", "20", "0.", "True"]`, []string{"c10::Half"}, 2 * 2 * 4 * 10 * 20 * 8, 2 * 2 * 4 * 8 * 2 * 30},
		{"aten::_scaled_dot_product_efficient_attention", "[[2, 4, 10, 8], [2, 4, 20, 8], [2, 4, 20, 8]]", "", []string{"c10::Half"}, 4 * 2 * 4 * 10 * 20 * 8, 2 * 2 * 4 * 8 * 2 * 30},
		{"aten::relu", "[[2, 3]]", "", []string{"float"}, 0, 0},
		{"aten::mm", "", "", nil, 0, 0},
		{"aten::mm", "[[2, 3], [3", "", nil, 0, 0},
	} {
		flops, bytes, _ := MatrixWork(c.name, c.shapes, c.concrete, c.types)
		if flops != c.flops || bytes != c.bytes {
			t.Errorf("%s %s: %d flops, %d bytes; want %d, %d", c.name, c.shapes, flops, bytes, c.flops, c.bytes)
		}
		if torch := OperatorFlops(c.name, c.shapes, c.concrete); torch != 0 && torch != flops {
			t.Errorf("%s: torch counts %d, we %d", c.name, torch, flops)
		}
	}
}

func TestRooflineByHand(t *testing.T) {
	b := &builder{}
	b.file.Devices = []slowDevice{{ID: 0, Name: "NVIDIA H100 80GB HBM3", SMs: 132}}
	// 2·4096³ = 137.4 GFLOP in 200 µs: 687.2 TFLOP/s of 989.4.
	b.add("cpu_op", "aten::mm", 1, 1, 0, 20, `"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "External id": 1`)
	b.launch("cudaLaunchKernel", 5, 10, "kernel", "nvjet_tst", 7, 20, 220)
	b.add("cpu_op", "aten::relu", 1, 1, 30, 50, `"Input Dims": [[4096, 4096]], "Input type": ["c10::BFloat16"], "External id": 2`)
	b.launch("cudaLaunchKernel", 35, 40, "kernel", "elementwise", 7, 320, 420)
	trace, s := b.trace()
	r := RooflineOf(trace, s)
	if r == nil || len(r.Ops) != 1 {
		t.Fatalf("%+v", r)
	}
	op := r.Ops[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.001*want {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	near("rate", op.TFLOPs, 687.19)
	near("limit", op.Limit, 989.4)
	near("efficiency", op.Efficiency, 0.69456)
	near("MFU", r.MFU, 137438953472/989.4e3/400e3)
	if r.Covered != us(200) || r.Kernels != us(300) || r.Span != us(400) {
		t.Errorf("covered %d of %d in %d", r.Covered, r.Kernels, r.Span)
	}
}

func TestPeaksOf(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA A100-SXM4-80GB": "A100 80 GB", "NVIDIA A100-PCIE-40GB": "A100 40 GB",
		"Tesla V100-SXM2-32GB": "V100 SXM2", "Tesla T4": "T4", "NVIDIA GeForce RTX 4090": "RTX 4090", "NVIDIA GeForce RTX 3060 Laptop GPU": "RTX 3060 Laptop",
		"AMD Instinct MI300X VF": "MI300X", "NVIDIA L40S": "L40S", "NVIDIA L4": "L4", "NVIDIA B200": "B200 SXM",
	} {
		if p := PeaksOf(model.GPU{Name: name}); p == nil || p.Name != want {
			t.Errorf("%s: %+v, want %s", name, p, want)
		}
	}
	if p := PeaksOf(model.GPU{Name: "Radeon VII"}); p != nil {
		t.Errorf("unknown device has %+v", p)
	}
	if p := PeaksOf(model.GPU{Name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb", SMs: 16}); p == nil || math.Abs(p.Rates[FP16]-989.4*16/132) > 0.01 {
		t.Errorf("slice: %+v", p)
	}
}

// TestRooflineIsPossible: on real traces nothing runs above its limit by more than clocks and formulas can explain.
func TestRooflineIsPossible(t *testing.T) {
	onRealTraces(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		r := RooflineOf(trace, s)
		if r == nil {
			return
		}
		if r.Covered > r.Kernels || r.MFU > 1 {
			t.Errorf("covered %v of %v, MFU %v", r.Covered, r.Kernels, r.MFU)
		}
		for _, op := range r.Ops {
			if op.Peak > 0 && op.TFLOPs > 1.05*op.Peak {
				t.Errorf("%s %s: %.1f TFLOP/s, peak %.1f", op.Name, op.Shapes, op.TFLOPs, op.Peak)
			}
		}
		t.Logf("MFU %.3f, covered %.2f of %v", r.MFU, float64(r.Covered)/float64(max(1, r.Kernels)), r.Kernels.Std())
	})
}
