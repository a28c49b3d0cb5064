package traced

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// ProductClasses are the classes of kernels that matrix units can speed up.
var ProductClasses = []naming.KernelClass{naming.ClassMatmul, naming.ClassConvolution, naming.ClassAttention}

// classesOf are the classes of kernels that a finding of a cause is about; nil where it is about none.
func classesOf(cause string) []naming.KernelClass {
	switch cause {
	case finding.Precision:
		return ProductClasses
	case finding.MemoryBound:
		return []naming.KernelClass{naming.ClassElementwise}
	case finding.Layout:
		return []naming.KernelClass{naming.ClassLayout}
	}
	return nil
}

// ClassTime is the time of all kernels of some classes, in ns; what runs at the same time is added.
func (t *Traced) ClassTime(of []naming.KernelClass) (sum float64) {
	for i := range t.Kernels {
		if slices.Contains(of, t.Kernels[i].Class) {
			sum += float64(t.Kernels[i].Dur)
		}
	}
	return sum
}

// computeTime is the time in which kernels that are no collectives run, over all devices: a union.
func (t *Traced) computeTime() (sum float64) {
	for i := range t.GPUs {
		sum += float64(t.GPUs[i].Compute)
	}
	return sum
}

// alone is the share of the kernels' added times that remains where those that run at the same time count once, so that the
// shares of disjoint classes of kernels never add up to more than the time in which any runs.
func (t *Traced) alone() float64 {
	sum := 0.0
	for i := range t.Kernels {
		if t.Kernels[i].Class.Compute() {
			sum += float64(t.Kernels[i].Dur)
		}
	}
	if union := t.computeTime(); union > 0 && union < sum {
		return union / sum
	}
	return 1
}

// KernelFinding is a finding about kernels that could be faster by factors low … high of their time (added up, in ns). Where the device
// idles, it waits less for something else instead; a replay knows it better (priceKernels).
func (t *Traced) KernelFinding(id string, time float64, at code.Where, title string, row price.Row) finding.Draft {
	time *= t.alone()
	f := t.finding(id, time, at, title)
	gain := f.By(row).Bounds()
	f.Run = finding.Bounds(gain.Low*time*t.Busy, gain.Mid*time*t.Busy, gain.High*time)
	f.Caveat = []wording.Text{wording.Say("traced.caveat-kernels")}
	return f
}

// TracedCompute says what devices are bound by where no finding claims most of their time: no defect.
func TracedCompute(t *Traced, found []finding.Finding) (finding.Finding, bool) {
	time := t.computeTime()
	for i := range found {
		if f := &found[i]; f.Healthy {
			return finding.Finding{}, false
		} else if classesOf(f.Cause) != nil {
			time -= f.Share * t.Span
		}
	}
	if time < 0.5*t.Span {
		return finding.Finding{}, false
	}
	f := t.finding(finding.Compute, time, code.Where{}, "compute.traced").Finding
	if len(found) > 0 {
		f.Title = wording.Say("compute.traced-beside", wording.Share("share", f.Share))
	}
	f.Healthy = true
	if mfu, name, ok := t.MFU(); ok {
		f.Title = wording.Say("compute.of-peak", wording.With("title", f.Title), wording.Share("mfu", mfu), wording.Named("device", name))
	}
	f.Evidence = t.Kinds()
	f.Fix.Advice = []wording.Text{wording.Say("compute.fix-less-traced")}
	return f, true
}

// Kinds says which classes of kernels take most of the computing.
func (t *Traced) Kinds() (out []wording.Text) {
	times := map[naming.KernelClass]float64{}
	sum := 0.0
	for i := range t.Kernels {
		if k := &t.Kernels[i]; k.Class.Compute() {
			times[k.Class] += float64(k.Dur)
			sum += float64(k.Dur)
		}
	}
	var order []naming.KernelClass
	for c, d := range times {
		if d >= finding.Floor*sum {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b naming.KernelClass) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	for _, c := range order[:min(len(order), 3)] {
		out = append(out, wording.Say("compute.kernels", wording.Share("share", times[c]/sum), wording.Named("kind", c.String())))
	}
	return out
}

// MFU is the share of the devices' peak that the counted operators reach, averaged over traces; ok is false where it is not
// known or where what was counted covers too little of the kernels' time to say anything.
func (t *Traced) MFU() (share float64, device string, ok bool) {
	n := 0
	for _, r := range t.Rooflines() {
		if r.Peaks == nil || r.MFU < 0 || r.Kernels == 0 || float64(r.Covered) < price.RatesKnown*float64(r.Kernels) {
			continue
		}
		share += r.MFU
		device = r.Peaks.Name
		n++
	}
	return share / float64(max(n, 1)), device, n > 0
}
