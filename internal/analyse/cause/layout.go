package cause

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// findLayout names conversions between memory layouts around convolutions.
func findLayout(t *Traced, _ Ledger) []Draft {
	time, n := 0.0, int64(0)
	var best *analyse.Kernel
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Class != analyse.ClassLayout {
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
	f := t.kernelFinding(Layout, time, best.Where, "layout.converts", price.Layout)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	f.Evidence = []wording.Text{wording.Say("layout.conversions", wording.Time("time", time), wording.Count("n", n),
		wording.Named("kernel", cut(best.Name, 60)))}
	f.Fix.Advice = []wording.Text{wording.Say("layout.fix-one")}
	f.Fix.Action = insertLine("model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)")
	f.Caveat = append(f.Caveat, wording.Say("layout.caveat-back"))
	return []Draft{f}
}
