package cause

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse"
)

// tensorCoreGain is how much of the peak rates' ratio programs see when matrix units come into play: the rest of each kernel
// is memory traffic.
const tensorCoreGain = 0.5

// findPrecision names matrix products and convolutions in fp32 on a device whose matrix units would be several times faster.
func findPrecision(t *Traced) []Finding {
	time, gain, device, tf32 := 0.0, 0.0, "", false
	var best analyse.OpWork
	for _, r := range t.rooflines() {
		if r.Peaks == nil || r.Peaks.Rates[analyse.FP32] <= 0 {
			continue
		}
		fast := max(r.Peaks.Rates[analyse.TF32], r.Peaks.Rates[analyse.FP16])
		ratio := fast / r.Peaks.Rates[analyse.FP32]
		if ratio < 1.8 || fp32InMatrixUnits(t) {
			continue
		}
		for _, op := range r.Ops {
			if op.Format != analyse.FP32 || op.Limit > 0 && op.Limit < 0.5*op.Peak {
				continue // bound by memory: another format of its inputs is what would help, not the units
			}
			d := float64(op.Device)
			time += d
			gain += d * (1 - 1/max(ratio*tensorCoreGain, 1.2))
			device, tf32 = r.Peaks.Name, r.Peaks.Rates[analyse.TF32] >= 1.8*r.Peaks.Rates[analyse.FP32]
			if op.Device > best.Device {
				best = op
			}
		}
	}
	if time == 0 {
		return nil
	}
	mid := gain / time
	f := t.kernelFinding(Precision, time, analyse.Where{Op: best.Name}, "matrix products and convolutions run in fp32 without matrix units", Range{0.4 * mid, mid, min(1.3*mid, 0.95)})
	f.Evidence = []Evidence{
		{Text: fmt.Sprintf("%s in fp32 operators on %s; most in %s of %s", ms(time), device, best.Name, cut(best.Shapes, 80)), Value: time / 1e6, Unit: "ms"},
	}
	if best.TFLOPs > 0 {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s reaches %.3g TFLOP/s of %.3g possible in fp32", best.Name, best.TFLOPs, best.Peak), Value: best.TFLOPs, Unit: "TFLOP/s"})
	}
	f.Fix.Text = "Allow TF32 for products (fp32 range, 10 bits of mantissa), or run the forward pass in bfloat16 under autocast."
	f.Fix.Change = `torch.set_float32_matmul_precision("high")`
	if !tf32 {
		f.Fix.Text = "Run the forward pass in bfloat16 or float16 under autocast: this device has no faster rate for 32-bit inputs."
		f.Fix.Change = `with torch.autocast("cuda", torch.bfloat16):`
	}
	f.Caveat += " Results change in the last digits: check the loss."
	return []Finding{f}
}

// fp32InMatrixUnits says that most time of kernels for products and convolutions is in kernels that name matrix units: TF32 is allowed
// already, or the inputs that look like fp32 are cast inside.
func fp32InMatrixUnits(t *Traced) bool {
	with, all := 0.0, 0.0
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Class != analyse.ClassMatmul && k.Class != analyse.ClassConvolution {
			continue
		}
		all += float64(k.Dur)
		if k.TensorCores || strings.Contains(k.Name, "tf32") {
			with += float64(k.Dur)
		}
	}
	return all > 0 && with > 0.5*all
}
