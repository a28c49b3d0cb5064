package cause

import (
	"fmt"

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
	f := t.kernelFinding(Layout, time, best.Where, "tensors are converted between memory layouts", price.Layout)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%s in %d conversions, most in %s", ms(time), n, cut(best.Name, 60)), wording.RawFact(time/1e6, "ms"))}
	f.Fix.Advice = []wording.Text{wording.Raw("Keep the model and its input in one layout: channels_last, which the convolutions of the device prefer.")}
	f.Fix.Action = insertLine("model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)")
	f.Caveat = append(f.Caveat, wording.Raw(" Operators without a channels-last form convert back."))
	return []Draft{f}
}
