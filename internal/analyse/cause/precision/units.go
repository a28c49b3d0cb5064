package precision

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindPrecision names matrix products and convolutions in fp32 on a device whose matrix units would be several times faster.
func FindPrecision(t *traced.Traced, _ finding.Ledger) []finding.Draft {
	w := plainWork{}
	if shapesKnown(t) {
		w = plainOperators(t)
		w.others = othersToo(t)
	} else {
		w = plainKernels(t)
		w.others = 1
	}
	if w.time == 0 {
		return nil
	}
	mid := w.gain / w.time
	w.time *= w.others
	// An operator's kernels may be of other kinds as well, such as conversions of its inputs, which are not its own to claim.
	w.time = min(w.time, t.ClassTime(traced.ProductClasses))
	row := price.MatrixUnits
	row.Range = finding.Bounds(row.Low*mid, mid, min(row.High*mid, price.UnitsMost))
	f := t.KernelFinding(finding.Precision, w.time, w.at, "precision.plain", row)
	facts := append([]wording.Fact{wording.Time("time", w.time), wording.Named("device", w.peaks.Name)}, w.most...)
	f.Evidence = append([]wording.Text{wording.Say(w.said, facts...)}, w.more...)
	tf32 := w.peaks.Rates[arguments.TF32] >= price.WorthUnits*w.peaks.Rates[arguments.FP32]
	switch {
	case tf32:
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-tf32")}
		f.Fix.Action = finding.NewLine(`torch.set_float32_matmul_precision("high")`)
	case w.before8:
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-float16")}
		f.Fix.Action = finding.NewLine(`with torch.autocast("cuda", torch.float16):`)
	default:
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-half")}
		f.Fix.Action = finding.NewLine(`with torch.autocast("cuda", torch.bfloat16):`)
	}
	f.Caveat = append(f.Caveat, wording.Say("precision.caveat-digits"))
	return []finding.Draft{f}
}

// plainWork is what products and convolutions in fp32 take without matrix units.
type plainWork struct {
	time, gain float64 // ns of kernels, added up, and how much of it matrix units save
	others     float64 // how much of the like is in all traces for each ns in those that time is of
	peaks      *device.PeakRates
	before8    bool // a CUDA device of a compute capability below 8: no matrix unit takes bfloat16
	at         code.Where
	said       string         // the text of the evidence
	most       []wording.Fact // what takes most of the time, by name
	more       []wording.Text
}

// add counts kernel time on a device with such peaks; it is left out where matrix units are not much faster.
func (w *plainWork) add(time float64, peaks *device.PeakRates, device *model.GPU) bool {
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
func unitsRatio(p *device.PeakRates) float64 {
	if p == nil || p.Rates[arguments.FP32] <= 0 {
		return 0
	}
	return max(p.Rates[arguments.TF32], p.Rates[arguments.FP16]) / p.Rates[arguments.FP32]
}

// shapesKnown says that operators of known shapes launched enough of the kernels' time to judge by them.
func shapesKnown(t *traced.Traced) bool {
	covered, all := 0.0, 0.0
	for _, r := range t.Rooflines() {
		covered += float64(r.Covered)
		all += float64(r.Kernels)
	}
	return covered > price.RatesKnown*all
}

// othersToo is the kernels' time of all traces for each ns in those that hold shapes: of a run of ours a few windows do, and what they show
// holds for the others.
func othersToo(t *traced.Traced) float64 {
	with, all := 0.0, 0.0
	for _, r := range t.Rooflines() {
		with += float64(r.Kernels)
	}
	for i := range t.Kernels {
		if t.Kernels[i].Class.Compute() {
			all += float64(t.Kernels[i].Dur)
		}
	}
	return max(all/max(with, 1), 1)
}

// plainOperators adds up operators whose recorded inputs are in fp32.
func plainOperators(t *traced.Traced) (w plainWork) {
	if fp32InMatrixUnits(t) {
		return w
	}
	var best device.OpWork
	for i := range t.Parts {
		r := t.Parts[i].Roofline
		if r == nil {
			continue
		}
		for _, op := range r.Ops {
			if op.Format != arguments.FP32 || op.Limit > 0 && op.Limit < 0.5*op.Peak {
				continue // bound by memory: another format of its inputs is what would help, not the units
			}
			if w.add(float64(op.Device), r.Peaks, t.Parts[i].Device) && op.Device > best.Device {
				best = op
			}
		}
	}
	w.at, w.said = code.Where{Op: best.Name}, "precision.operators"
	w.most = []wording.Fact{wording.Named("op", best.Name), wording.Named("shapes", finding.Cut(best.Shapes, 80))}
	if best.TFLOPs > 0 {
		w.more = []wording.Text{wording.Say("precision.rate", wording.Value("rate", best.TFLOPs), wording.Value("peak", best.Peak),
			wording.Named("op", best.Name))}
	}
	return w
}

// plainNames mark kernels of NVIDIA's libraries for products and convolutions of fp32 in the ordinary units, by name: single-precision
// BLAS and cuDNN kernels of a generation and cuDNN's older ones, CUTLASS's without matrix instructions, and memory-efficient attention's.
var plainNames = regexp.MustCompile(`(maxwell|pascal|volta|turing|ampere)_s(gemm|cudnn|gcudnn)_|cutlass_\w*simt_sgemm_|_f32f32_f32f32_f32_\w*ffma|fmha_cutlass[FB]_f32_|implicit_convolve_sgemm<float, float|(dgrad|wgrad)\w*_engine<float,`)

// plainKernels adds up kernels whose names tell, where the trace holds no shapes or its kernels no operators (CUDA graphs).
func plainKernels(t *traced.Traced) (w plainWork) {
	if len(t.Parts) == 0 || t.Parts[0].Device == nil {
		return w
	}
	gpu := t.Parts[0].Device
	peaks := device.PeaksOf(*gpu)
	var best *device.Kernel
	n := int64(0)
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if slices.Contains(traced.ProductClasses, k.Class) && plainNames.MatchString(k.Name) && w.add(float64(k.Dur), peaks, gpu) {
			n += k.Count
			if best == nil || k.Dur > best.Dur {
				best = k
			}
		}
	}
	if best != nil {
		w.at, w.said, w.most = best.Where, "precision.kernels", []wording.Fact{wording.Named("kernel", finding.Cut(best.Name, 60))}
		if w.at.Op == "" {
			w.at.Op = best.Launcher
		}
		w.more = []wording.Text{wording.Say("precision.no-shapes", wording.Count("n", n))}
	}
	return w
}

// fp32InMatrixUnits says that most time of kernels for products and convolutions is in kernels that name matrix units: TF32 is allowed
// already, or the inputs that look like fp32 are cast inside.
func fp32InMatrixUnits(t *traced.Traced) bool {
	with, all := 0.0, 0.0
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Class != naming.ClassMatmul && k.Class != naming.ClassConvolution {
			continue
		}
		all += float64(k.Dur)
		if k.TensorCores || strings.Contains(k.Name, "tf32") {
			with += float64(k.Dur)
		}
	}
	return all > 0 && with > 0.5*all
}
