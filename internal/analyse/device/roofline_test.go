package device

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestRooflineByHand(t *testing.T) {
	b := &slowtrace.Builder{}
	b.File.Devices = []slowtrace.Device{{ID: 0, Name: "NVIDIA H100 80GB HBM3", SMs: 132}}
	// 2·4096³ = 137.4 GFLOP in 200 µs: 687.2 TFLOP/s of 989.4.
	b.Add("cpu_op", "aten::mm", 1, 1, 0, 20,
		`"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "External id": 1`)
	b.Launch("cudaLaunchKernel", 5, 10, "kernel", "nvjet_tst", 7, 20, 220)
	b.Add("cpu_op", "aten::relu", 1, 1, 30, 50, `"Input Dims": [[4096, 4096]], "Input type": ["c10::BFloat16"], "External id": 2`)
	b.Launch("cudaLaunchKernel", 35, 40, "kernel", "elementwise", 7, 320, 420)
	trace, s := b.Trace()
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
	if r.Covered != slowtrace.Micros(200) || r.Kernels != slowtrace.Micros(300) || r.Span != slowtrace.Micros(400) {
		t.Errorf("covered %d of %d in %d", r.Covered, r.Kernels, r.Span)
	}
}

func TestPeaksOf(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA A100-SXM4-80GB": "A100 80 GB",
		"NVIDIA A100-PCIE-40GB": "A100 40 GB", "Tesla V100-SXM2-32GB": "V100 SXM2", "Tesla T4": "T4", "NVIDIA GeForce RTX 4090": "RTX 4090",
		"NVIDIA GeForce RTX 3060 Laptop GPU": "RTX 3060 Laptop", "AMD Instinct MI300X VF": "MI300X", "NVIDIA L40S": "L40S",
		"NVIDIA L4": "L4", "NVIDIA B200": "B200 SXM",
	} {
		if p := PeaksOf(model.GPU{Name: name}); p == nil || p.Name != want {
			t.Errorf("%s: %+v, want %s", name, p, want)
		}
	}
	if p := PeaksOf(model.GPU{Name: "Radeon VII"}); p != nil {
		t.Errorf("unknown device has %+v", p)
	}
	if p := PeaksOf(model.GPU{Name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb", SMs: 16}); p == nil ||
		math.Abs(p.Rates[arguments.FP16]-989.4*16/132) > 0.01 {
		t.Errorf("slice: %+v", p)
	}
}

// TestRooflineIsPossible: on real traces nothing runs above its limit by more than clocks and formulas can explain.
func TestRooflineIsPossible(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
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
