package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findPrecision names matrix products and convolutions in fp32 on a device whose matrix units would be several times faster.
func findPrecision(t *Traced, _ Ledger) []Draft {
	w := plainWork{}
	if t.shapesKnown() {
		w = t.plainOperators()
	} else {
		w = t.plainKernels()
	}
	if w.time == 0 {
		return nil
	}
	mid := w.gain / w.time
	// An operator's kernels may be of other kinds as well, such as conversions of its inputs, which are not its own to claim.
	w.time = min(w.time, t.classTime(productClasses))
	row := price.MatrixUnits
	row.Range = bounds(row.Low*mid, mid, min(row.High*mid, price.UnitsMost))
	f := t.kernelFinding(Precision, w.time, w.at, "matrix products and convolutions run in fp32 without matrix units", row)
	f.Evidence = append([]wording.Text{wording.Raw(fmt.Sprintf("%s in fp32 %s on %s; most in %s", ms(w.time), w.what, w.peaks.Name, w.most), wording.RawFact(w.time/1e6, "ms"))}, w.more...)
	tf32 := w.peaks.Rates[analyse.TF32] >= price.WorthUnits*w.peaks.Rates[analyse.FP32]
	switch {
	case tf32:
		f.Fix.Advice = []wording.Text{wording.Raw("Allow TF32 for products (fp32 range, 10 bits of mantissa), or run the forward pass in bfloat16 under autocast.")}
		f.Fix.Action = insertLine(`torch.set_float32_matmul_precision("high")`)
	case w.before8:
		f.Fix.Advice = []wording.Text{wording.Raw("Run the forward pass in float16 under autocast, in training with a GradScaler: this device's matrix units take neither bfloat16 nor 32-bit inputs.")}
		f.Fix.Action = insertLine(`with torch.autocast("cuda", torch.float16):`)
	default:
		f.Fix.Advice = []wording.Text{wording.Raw("Run the forward pass in bfloat16 or float16 under autocast: this device has no faster rate for 32-bit inputs.")}
		f.Fix.Action = insertLine(`with torch.autocast("cuda", torch.bfloat16):`)
	}
	f.Caveat = append(f.Caveat, wording.Raw(" Results change in the last digits: check the loss."))
	return []Draft{f}
}

// plainWork is what products and convolutions in fp32 take without matrix units.
type plainWork struct {
	time, gain float64 // ns of kernels, added up, and how much of it matrix units save
	peaks      *analyse.PeakRates
	before8    bool // a CUDA device of a compute capability below 8: no matrix unit takes bfloat16
	at         analyse.Where
	what, most string
	more       []wording.Text
}

// add counts kernel time on a device with such peaks; it is left out where matrix units are not much faster.
func (w *plainWork) add(time float64, peaks *analyse.PeakRates, device *model.GPU) bool {
	ratio := unitsRatio(peaks)
	if ratio < price.WorthUnits {
		return false
	}
	w.time += time
	w.gain += time * (1 - 1/max(ratio*price.UnitsReached.Mid, price.UnitsLeast))
	w.peaks = peaks
	w.before8 = w.before8 || device != nil && device.ComputeMajor > 0 && device.ComputeMajor < 8
	return true
}

// unitsRatio is by how much a device's matrix units are faster than its fp32; 0 unknown.
func unitsRatio(p *analyse.PeakRates) float64 {
	if p == nil || p.Rates[analyse.FP32] <= 0 {
		return 0
	}
	return max(p.Rates[analyse.TF32], p.Rates[analyse.FP16]) / p.Rates[analyse.FP32]
}

// shapesKnown says that operators of known shapes launched enough of the kernels' time to judge by them.
func (t *Traced) shapesKnown() bool {
	covered, all := 0.0, 0.0
	for _, r := range t.rooflines() {
		covered += float64(r.Covered)
		all += float64(r.Kernels)
	}
	return covered > price.RatesKnown*all
}

// plainOperators adds up operators whose recorded inputs are in fp32.
func (t *Traced) plainOperators() (w plainWork) {
	if fp32InMatrixUnits(t) {
		return w
	}
	var best analyse.OpWork
	for i := range t.Parts {
		r := t.Parts[i].Roofline
		if r == nil {
			continue
		}
		for _, op := range r.Ops {
			if op.Format != analyse.FP32 || op.Limit > 0 && op.Limit < 0.5*op.Peak {
				continue // bound by memory: another format of its inputs is what would help, not the units
			}
			if w.add(float64(op.Device), r.Peaks, t.Parts[i].Device) && op.Device > best.Device {
				best = op
			}
		}
	}
	w.at, w.what, w.most = analyse.Where{Op: best.Name}, "operators", best.Name+" of "+cut(best.Shapes, 80)
	if best.TFLOPs > 0 {
		w.more = []wording.Text{wording.Raw(fmt.Sprintf("%s reaches %.3g TFLOP/s of %.3g possible in fp32", best.Name, best.TFLOPs, best.Peak), wording.RawFact(best.TFLOPs, "TFLOP/s"))}
	}
	return w
}

// plainNames mark kernels of NVIDIA's libraries for products and convolutions of fp32 in the ordinary units, by name: single-precision
// BLAS and cuDNN kernels of a generation and cuDNN's older ones, CUTLASS's without matrix instructions, and memory-efficient attention's.
var plainNames = regexp.MustCompile(`(maxwell|pascal|volta|turing|ampere)_s(gemm|cudnn|gcudnn)_|cutlass_\w*simt_sgemm_|_f32f32_f32f32_f32_\w*ffma|fmha_cutlass[FB]_f32_|implicit_convolve_sgemm<float, float|(dgrad|wgrad)\w*_engine<float,`)

// plainKernels adds up kernels whose names tell, where the trace holds no shapes or its kernels no operators (CUDA graphs).
func (t *Traced) plainKernels() (w plainWork) {
	if len(t.Parts) == 0 || t.Parts[0].Device == nil {
		return w
	}
	device := t.Parts[0].Device
	peaks := analyse.PeaksOf(*device)
	var best *analyse.Kernel
	n := int64(0)
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if slices.Contains(productClasses, k.Class) && plainNames.MatchString(k.Name) && w.add(float64(k.Dur), peaks, device) {
			n += k.Count
			if best == nil || k.Dur > best.Dur {
				best = k
			}
		}
	}
	if best != nil {
		w.at, w.what, w.most = best.Where, "kernels, as their names say,", cut(best.Name, 60)
		if w.at.Op == "" {
			w.at.Op = best.Launcher
		}
		w.more = []wording.Text{wording.Raw(fmt.Sprintf("%d such kernels; the trace does not show their shapes", n), wording.RawFact(float64(n), ""))}
	}
	return w
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
