package traced

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// FindLayout names conversions between memory layouts around convolutions.
func FindLayout(t *Traced, _ finding.Ledger) []finding.Draft {
	time, n := 0.0, int64(0)
	var best *device.Kernel
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Class != naming.ClassLayout {
			continue
		}
		time += float64(k.Dur)
		n += k.Count
		if best == nil || k.Dur > best.Dur {
			best = k
		}
	}
	if best == nil {
		return nil
	}
	f := t.KernelFinding(finding.Layout, time, best.Where, "layout.converts", price.Layout)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	f.Evidence = []wording.Text{wording.Say("layout.conversions", wording.Time("time", time), wording.Count("n", n),
		wording.Named("kernel", finding.Cut(best.Name, 60)))}
	f.Fix.Advice = []wording.Text{wording.Say("layout.fix-one")}
	f.Fix.Action = finding.NewLine("model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)")
	f.Caveat = append(f.Caveat, wording.Say("layout.caveat-back"))
	return []finding.Draft{f}
}
